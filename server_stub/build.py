"""The composition root: a configuration becomes a wired application."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.types import ASGIApp

from server_stub.api.app import make_app
from server_stub.config import ServerConfig
from server_stub.engine.commands import CommandFile, read_command_files
from server_stub.engine.factory import EngineFactory
from server_stub.engine.models.model import Model
from server_stub.engine.models.offline import OfflineModel
from server_stub.engine.models.recorder import Recorder
from server_stub.engine.models.script import Script
from server_stub.engine.tools.offline_action import OfflineAction
from server_stub.engine.tools.tool import Tool
from server_stub.errors import ServerError
from server_stub.sessions.engines import Engines
from server_stub.sessions.lease import SoleProcess
from server_stub.sessions.reload import SkillReload
from server_stub.sessions.runs import Runs
from server_stub.sessions.service import Ceilings, SessionService
from server_stub.sessions.store import MemoryStore
from server_stub.skills.resolve import SkillOptions
from server_stub.skills.resolver import SkillResolver
from server_stub.skills.trust import is_trusted
from server_stub.version import build_id

_SYSTEM = (
    "You are an agent in a terminal, working with a person in one folder. Be brief and exact. When a skill fits "
    "the task, load it with the Skill tool before you begin."
)

_WORKERS = 2
"""Threads for resolutions and builds: reading folders gains nothing from more."""


class ModelUnavailable(ServerError):
    """The model that was asked for cannot be had from this server; the text says what can."""


@dataclass(frozen=True, slots=True)
class Built:
    """A wired server, and the service to drain when it stops."""

    app: ASGIApp
    service: SessionService


def build(config: ServerConfig) -> Built:
    """Wire everything; the start-up resolution is part of it.

    Raises:
        ModelUnavailable: the configured model is not offered.
        ScriptInvalid: the offline model's script cannot be used.
        RecordUnusable: the offline model's requests cannot be noted where the configuration says.
    """
    resolver = SkillResolver(skill_options(config))
    started = resolver.at_startup()
    factory = EngineFactory(
        model=_model(config), base_tools=_base_tools(config), command_files=_commands(config), system=_SYSTEM
    )
    store, leases = MemoryStore(), SoleProcess()
    engines = Engines(factory, started, config.limits.private_engines)
    service = SessionService(
        store=store,
        engines=engines,
        leases=leases,
        runs=Runs(config.limits.turns),
        ceilings=Ceilings(config.limits.sessions, config.limits.log_entries),
    )
    reload = SkillReload(
        store=store,
        engines=engines,
        leases=leases,
        resolve=resolver,
        workers=ThreadPoolExecutor(_WORKERS, thread_name_prefix="reload"),
        deadline_seconds=config.skills.deadline_seconds,
        take_work=service.take_work,
    )
    return Built(make_app(config, service, reload, build_id()), service)


def skill_options(config: ServerConfig) -> SkillOptions:
    """The operator's word on skills, in the terms of the resolver. Start-up and reload use this alone."""
    return SkillOptions(
        workspace=config.workspace,
        explicit=config.skills.directories,
        conventional=config.skills.conventional,
        trust_project=config.skills.trust_project,
        execution_local=True,
        home=config.folders.home,
        config_home=config.folders.config_home,
        trust_file=config.folders.trust_file,
        deadline_seconds=config.skills.deadline_seconds,
    )


def _model(config: ServerConfig) -> Model:
    if config.model.name and not config.model.offline and config.model.name != OfflineModel.name:
        raise ModelUnavailable(
            f"the model {config.model.name} is not offered by this server; leave --model out for the offline model"
        )
    if config.model.base_url and not config.model.offline:
        raise ModelUnavailable("the offline model has no endpoint; leave --base-url out")
    plays = Script.read(config.model.script) if config.model.script else None
    return OfflineModel(plays, Recorder.open(config.model.record) if config.model.record else None)


def _base_tools(config: ServerConfig) -> tuple[Tool, ...]:
    return (OfflineAction(),) if config.model.script else ()


def _commands(config: ServerConfig) -> tuple[CommandFile, ...]:
    trust = is_trusted(config.workspace, standing=config.skills.trust_project, trust_file=config.folders.trust_file)
    return read_command_files(config.workspace, config.folders.config_home, trusted=trust.is_trusted)
