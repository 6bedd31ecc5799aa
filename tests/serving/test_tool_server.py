import asyncio

import pytest

import kgqa

pytest.importorskip("mcp")


def test_an_agent_finds_and_calls_the_tools(stub) -> None:
    from mcp import Client

    from kgqa.serving.tool_server import tool_server

    async def talk() -> None:
        async with Client(tool_server(stub)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"answer", "explain", "graph_search"}
            found = await client.call_tool("answer", {"question": "What?"})
            assert found.structured_content["answer"] == "to What?"
            explained = await client.call_tool("explain", {"question": "What?"})
            assert explained.structured_content["influences"] == []
            searched = (await client.call_tool("graph_search", {"text": "trowels"})).structured_content
            assert searched["concepts"][0]["label"] == "trowel"
            assert searched["facts"][0]["tail"]["label"] == "plant flowers"
            for tool, name in (("answer", "question"), ("explain", "question"), ("graph_search", "text")):
                refused = await client.call_tool(tool, {name: " "})
                assert refused.is_error and "write what you want to know" in refused.content[0].text

            for arguments in ({}, {"question": 3}, {"question": "a", "choices": [[]]}, {"question": "panic"}):
                refused = await client.call_tool("answer", arguments)
                said = refused.content[0].text
                assert refused.is_error and "\n" not in said and "; " in said
            assert client.server_info.version == kgqa.__version__

    asyncio.run(talk())
