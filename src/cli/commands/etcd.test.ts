// Flags of `coxswain etcd` that cannot be used are rejected before anything starts.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../run.ts'
import { etcd } from './etcd.ts'

const rejected: readonly [flags: readonly string[], message: RegExp][] = [
  [['--listen-client-urls=nowhere'], /--listen-client-urls: "nowhere" is not like http:/],
  [['--advertise-client-urls=nowhere'], /--advertise-client-urls: "nowhere" is not like http:/],
  [['--listen-client-urls=https://127.0.0.1:0'], /https needs --cert-file and --key-file/],
  [['--listen-client-urls=https://127.0.0.1:0', '--cert-file=/none', '--key-file=/none'], /cannot read .*--cert-file/],
  [['--client-cert-auth'], /--client-cert-auth needs --trusted-ca-file/],
  [['--store=disk'], /--store disk is none of memory, sqlite/],
  [['--quota-backend-bytes=much'], /--quota-backend-bytes much is not a whole number/],
  [['--watch-progress-notify-interval=often'], /--watch-progress-notify-interval: .*invalid duration/],
]
for (const [flags, message] of rejected)
  test(`rejected: ${flags.join(' ')}`, async () => {
    let printed = ''
    const code = await run([etcd], ['etcd', ...flags], {
      out: () => {},
      err: (text) => (printed += text),
      isTerminal: false,
      environment: {},
      signal: AbortSignal.abort(),
      startedMs: 0,
    })
    equal(code, 2)
    match(printed, message)
  })
