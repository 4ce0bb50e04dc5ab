"""Deliberately broken servers: one replacement in one file each, and the acceptance test that must then fail."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`old` stands exactly once in `file`; with `new` in its place the test file `caught_by` fails."""

    name: str
    file: str
    old: str
    new: str
    caught_by: str


MUTANTS = [
    Mutant(
        "a reload installs for everybody",
        "sessions/reload.py",
        "                seat.keep()\n",
        "                seat.keep()\n"
        "                for other in self._store.everyone():\n"
        "                    other.installed = session.installed\n",
        "test_reload_in_one_session_changes_no_other.py",
    ),
    Mutant(
        "a new session starts from the last reload",
        "sessions/reload.py",
        "                seat.keep()\n",
        "                seat.keep()\n                self._engines.default = engine\n",
        "test_reload_in_one_session_changes_no_other.py",
    ),
    Mutant(
        "clear keeps the old advertisement",
        "sessions/service.py",
        "self._new(caller, pin, Installed(engine, is_private=True))",
        "self._new(caller, parent.pin, Installed(engine, is_private=True))",
        "test_reload_in_one_session_changes_no_other.py",
    ),
    Mutant(
        "a live run does not refuse a reload",
        "sessions/admission.py",
        "    if run is not None or session.state.is_active:\n",
        "    if False:\n",
        "test_active_and_awaiting_sessions_reject_reload.py",
    ),
    Mutant(
        "an open ask does not say which",
        "sessions/admission.py",
        '            ask_id=next(iter(run.asks), "") if run else "",\n',
        "",
        "test_active_and_awaiting_sessions_reject_reload.py",
    ),
    Mutant(
        "two reloads of a session may overlap",
        "sessions/reload.py",
        "                replaced, session.installed = session.installed, _next(session.installed, engine)\n",
        "                replaced = session.installed\n"
        "                session.installed = Installed(engine, 2, is_private=True, previous=None)\n",
        "test_active_and_awaiting_sessions_reject_reload.py",
    ),
    Mutant(
        "a fault empties the inventory",
        "sessions/reload.py",
        "        if resolution.faults:\n",
        "        if False:\n",
        "test_failed_reload_keeps_the_old_catalog.py",
    ),
    Mutant(
        "a failure names the folder",
        "sessions/reload.py",
        '                f"the {tiers} skills could not be read; the skills loaded before still work; "\n',
        '                f"the skills of {resolution.faults[0]} /etc could not be read; "\n',
        "test_failed_reload_keeps_the_old_catalog.py",
    ),
    Mutant(
        "a reload advertises afresh",
        "sessions/reload.py",
        "return await loop.run_in_executor(self._workers, self._engines.build, session.pin, snapshot)",
        "return await loop.run_in_executor(\n"
        "                self._workers, self._engines.build, self._engines.factory.pin(snapshot), snapshot\n"
        "            )",
        "test_tool_specification_is_byte_identical.py",
    ),
    Mutant(
        "a reload tells the model in the conversation",
        "sessions/reload.py",
        "                seat.keep()\n",
        "                seat.keep()\n                session.messages.clear()\n",
        "test_tool_specification_is_byte_identical.py",
    ),
    Mutant(
        "the model still gets the old body",
        "sessions/reload.py",
        "                replaced, session.installed = session.installed, _next(session.installed, engine)\n",
        "                for tool in engine.catalog.tools:\n"
        "                    if hasattr(tool, 'activation'):\n"
        "                        object.__setattr__(tool, 'activation', began_from.snapshot)\n"
        "                replaced, session.installed = session.installed, _next(session.installed, engine)\n",
        "test_changed_body_is_refreshed.py",
    ),
    Mutant(
        "the parsed file is reused although it changed",
        "sessions/reload.py",
        "        return resolution.snapshot\n",
        "        return self._engines.startup\n",
        "test_changed_body_is_refreshed.py",
    ),
    Mutant(
        "only what is advertised can be loaded",
        "engine/skill_tool.py",
        "        skill = self.activation.find(name)\n",
        "        skill = self.activation.find(name) if name in self.advertised else None\n",
        "test_added_skill_works_by_name_and_is_not_advertised.py",
    ),
    Mutant(
        "an error tells the model of additions",
        "engine/skill_tool.py",
        "        there = [known for known in self.advertised if self._may_load(known)]\n",
        "        there = [skill.name for skill in self.activation.skills]\n",
        "test_added_skill_works_by_name_and_is_not_advertised.py",
    ),
    Mutant(
        "another skill is put in the place of a removed one",
        "engine/skill_tool.py",
        "        skill = self.activation.find(name)\n",
        "        skill = self.activation.find(name) or next(iter(self.activation.skills), None)\n",
        "test_removed_skill_fails_honestly.py",
    ),
    Mutant(
        "the old text of a gone skill is served",
        "sessions/service.py",
        "        skill = snapshot.find(name) if snapshot is not None else None\n",
        "        skill = snapshot.find(name) or installed.previous.find(name)\n",
        "test_removed_skill_fails_honestly.py",
    ),
    Mutant(
        "the palette stays that of the start",
        "sessions/service.py",
        "        return self.get(session_id, caller).installed.engine.expansions\n",
        "        return self._engines.default.expansions\n",
        "test_palette_and_expansion_follow_the_reload.py",
    ),
    Mutant(
        "a reload touches the session's time",
        "sessions/reload.py",
        "                seat.keep()\n",
        "                seat.keep()\n                session.modified_at += 60\n",
        "test_palette_and_expansion_follow_the_reload.py",
    ),
    Mutant(
        "a body with the request is ignored",
        "api/skill_routes.py",
        "        await read_nothing(request)\n",
        "",
        "test_palette_and_expansion_follow_the_reload.py",
    ),
    Mutant(
        "the project is always trusted",
        "skills/resolve.py",
        "    admitted = project if decision.is_trusted else []\n",
        "    admitted = project\n",
        "test_project_skills_need_trust.py",
    ),
    Mutant(
        "counts are of the inventory before",
        "sessions/reload.py",
        "    counts = difference(before.snapshot, after.snapshot)\n",
        "    counts = difference(after.snapshot, before.snapshot)\n",
        "test_outcomes_are_deterministic.py",
    ),
    Mutant(
        "the later tier wins",
        "skills/resolve.py",
        "        winner = winners.setdefault(skill.name, skill)\n",
        "        winner = winners.setdefault(skill.name, skill)\n        winners[skill.name] = skill\n",
        "test_outcomes_are_deterministic.py",
    ),
    Mutant(
        "the capability is not told",
        "api/app.py",
        "skills=True, skills_reload=True",
        "skills=True",
        "test_offline_and_public_contract_hold.py",
    ),
    Mutant(
        "requests are read leniently",
        "api/answers.py",
        '        return kind.from_json(await request.body() or b"{}")\n',
        "        return kind.model_construct()\n",
        "test_offline_and_public_contract_hold.py",
    ),
    Mutant(
        "learned skills come first",
        "skills/resolve.py",
        "        results.append(learned.list())\n",
        "        results.insert(0, learned.list())\n",
        "test_learned_partitions_keep_their_isolation.py",
    ),
]
