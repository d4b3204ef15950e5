# In the language of Responses the peer says that an answer is incomplete, but not why.
/^== cut by the limit, whole/,/^==/s/^finish: length$/finish: /
/^== cut by the limit, streamed/,/^==/s/^finish: length$/finish: /
