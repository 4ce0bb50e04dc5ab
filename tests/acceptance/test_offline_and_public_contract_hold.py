"""The tests are offline, and the rules of the public interface hold: the reload adds and takes nothing away."""

from pathlib import Path

import httpx
import psutil

from client.contract.sessions import CreateSession, PermissionMode
from tests.acceptance.stage import staged


async def test_the_server_opens_no_connection_of_its_own(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        a = await stage.session()
        await stage.run(a, "/alpha")
        await stage.client.reload_skills(a)
        assert psutil.Process(stage.server.process.pid).net_connections(kind="inet") == []


async def test_the_capability_is_told_and_the_rest_is_as_before(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        told = await stage.client.compatibility()
        assert told.api_major == 1
        assert told.capabilities.skills_reload
        assert told.capabilities.slash_commands


async def test_what_is_not_a_skill_survives_a_reload(tmp_path: Path) -> None:
    commands = tmp_path / "home" / ".config" / "mecatl" / "commands"
    commands.mkdir(parents=True)
    (commands / "deploy.md").write_text("Deploy $ARGUMENTS\n")
    async with staged(tmp_path, alpha="A1") as stage:
        made = await stage.client.create_session(CreateSession(mode=PermissionMode.PLAN, profile="no-fs"))
        a = made.session_id
        assert await stage.expands(a, "/deploy now") == "Deploy now"
        before = await stage.client.session(a)
        (commands / "deploy.md").write_text("Changed $ARGUMENTS\n")
        await stage.client.reload_skills(a)
        assert await stage.expands(a, "/deploy now") == "Deploy now"
        after = await stage.client.session(a)
        assert (after.mode, after.placement, after.resolved_model) == (
            before.mode,
            before.placement,
            before.resolved_model,
        )


async def test_requests_are_strict_and_errors_have_one_form(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="A1") as stage:
        transport = httpx.AsyncHTTPTransport(uds=stage.server.address.removeprefix("unix:"))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as raw:
            for answer, status, code in [
                (await raw.post("/v1/sessions", json={"surprise": 1}), 400, "invalid_argument"),
                (await raw.post("/v1/sessions", content=b"{"), 400, "invalid_argument"),
                (await raw.get("/v1/nothing"), 404, "not_found"),
                (await raw.get("/v1/sessions/" + "0" * 32), 404, "session_not_found"),
            ]:
                assert (answer.status_code, answer.json()["code"]) == (status, code)
                assert set(answer.json()) == {"error", "code"}
