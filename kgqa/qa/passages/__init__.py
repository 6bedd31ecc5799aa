"""Steps and rules that compute an answer from what a passage states: amounts, comparisons, roles, implicatives."""
