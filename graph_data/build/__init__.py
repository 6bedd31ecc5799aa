"""The source format of the shipped graph, compiled to Turtle and checked: `kgqa graph build`."""
