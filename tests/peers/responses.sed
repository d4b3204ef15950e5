# In the language of Responses the peer says that an answer is incomplete, but not why; and at the end of a stream it says
# both that it is completed and that it is not.
/^== cut by the limit, whole/,/^==/s/^finish: length$/finish: /
/^== cut by the limit, streamed/,/^==/s/^finish: length$/finish: stop/
