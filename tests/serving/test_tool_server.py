import asyncio

import pytest

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
            refused = await client.call_tool("answer", {"question": ""})
            assert refused.is_error

    asyncio.run(talk())
