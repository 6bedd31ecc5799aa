"""Korean for a reader of English: questions translated into English, answers in Korean."""
