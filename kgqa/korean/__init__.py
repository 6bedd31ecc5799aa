"""Korean for a reader of English: questions glossed into English, answers said in Korean."""
