" Vim 9's channels drive the broker: `lsp` mode (header framing), `nl` mode (lines), both over standard input and output and
" over the socket; and the default `json` mode, which is no JSON-RPC, must be refused without harm.
" Run by Tests/Drivers/Editors/run: `vim -Nu NONE -es -S vim.vim`. $RESULTS: where PASS, FAIL and DONE go; $SOCKET: the owner's socket.

let s:command = ['authbroker', 'serve', '--stdio']
let s:heard = []

function Say(line) abort
  call writefile([a:line], $RESULTS, 'a')
endfunction

function Check(name, truth, seen) abort
  call Say(a:truth ? 'PASS vim ' .. a:name : 'FAIL vim ' .. a:name .. ': ' .. string(a:seen)[0:400])
endfunction

function Note(channel, message) abort
  call add(s:heard, type(a:message) == v:t_string ? json_decode(a:message) : a:message)
endfunction

" Waits for the first message heard that Accepts() and takes it out; {} if none comes.
function Await(Accepts) abort
  for l:_ in range(25000)
    for l:index in range(len(s:heard))
      if a:Accepts(s:heard[l:index])
        return remove(s:heard, l:index)
      endif
    endfor
    sleep 10m
  endfor
  return {}
endfunction

" One request by whichever mode the channel is in; the whole answer.
function Ask(mode, channel, id, method, params) abort
  if a:mode ==# 'lsp'
    return ch_evalexpr(a:channel, #{method: a:method, params: a:params}, #{timeout: 250000})
  endif
  call ch_sendraw(a:channel, json_encode(#{jsonrpc: '2.0', id: a:id, method: a:method, params: a:params}) .. "\n")
  return Await({message -> get(message, 'id', -1) == a:id})
endfunction

function Journey(label, mode, channel) abort
  let s:heard = []
  let l:reply = Ask(a:mode, a:channel, 1, 'initialize', #{client: #{name: 'vim', version: '9'}})
  call Check(a:label .. ' initialize', get(get(l:reply, 'result', {}), 'protocolVersion', '') ==# '1', l:reply)
  let l:reply = Ask(a:mode, a:channel, 2, 'getAccessToken', #{profile: 'default'})
  call Check(a:label .. ' getAccessToken', len(get(get(l:reply, 'result', {}), 'accessToken', '')) > 20, keys(l:reply))
  let l:reply = Ask(a:mode, a:channel, 3, 'noSuchMethod', {})
  call Check(a:label .. ' unknown method', get(get(l:reply, 'error', {}), 'code', 0) == -32601, l:reply)
  let l:reply = Ask(a:mode, a:channel, 4, 'subscribe', #{events: ['tokenRefreshed']})
  let l:subscription = get(get(l:reply, 'result', {}), 'subscriptionId', '')
  call Check(a:label .. ' subscribe', !empty(l:subscription), l:reply)
  call Ask(a:mode, a:channel, 5, 'getAccessToken', #{forceRefresh: v:true})
  let l:event = Await({message -> get(message, 'method', '') ==# 'event'})
  let l:params = get(l:event, 'params', {})
  call Check(a:label .. ' event', get(l:params, 'event', '') ==# 'tokenRefreshed'
        \ && get(l:params, 'subscriptionId', '') == l:subscription, l:event)
endfunction

function Everything() abort
  for l:mode in ['lsp', 'nl']
    let l:job = job_start(s:command, #{mode: l:mode, out_cb: 'Note', err_io: 'null'})
    call Journey(l:mode .. ' stdio', l:mode, job_getchannel(l:job))
    call job_stop(l:job)
    let l:channel = ch_open('unix:' .. $SOCKET, #{mode: l:mode, callback: 'Note'})
    call Journey(l:mode .. ' socket', l:mode, l:channel)
    call ch_close(l:channel)
  endfor
  " Mode `json` writes [1,{…}]: a batch of two things that are no requests. Vim cannot use the answer; the broker must live.
  let l:job = job_start(s:command, #{mode: 'json', err_io: 'null'})
  silent! call ch_evalexpr(job_getchannel(l:job), #{method: 'ping'}, #{timeout: 1000})
  call Check('json mode leaves the program running', job_status(l:job) ==# 'run', job_status(l:job))
  let l:job_lines = job_start(s:command, #{mode: 'nl', out_cb: 'Note', err_io: 'null'})
  let l:reply = Ask('nl', job_getchannel(l:job_lines), 9, 'ping', {})
  call Check('json mode leaves the owner running', has_key(l:reply, 'result'), l:reply)
  call job_stop(l:job)
  call job_stop(l:job_lines)
endfunction

try
  call Everything()
  call Say('DONE')
catch
  call Say('FAIL vim: ' .. v:exception .. ' at ' .. v:throwpoint)
endtry
qall!
