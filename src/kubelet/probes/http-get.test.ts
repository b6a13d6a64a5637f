// The bytes of the requests of probes and hooks: texts of users are escaped or rejected, and never end a line.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { HTTPGetAction } from '../../api/core/v1/container/probe.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { PodDialer } from '../../machine/dialer/pod-dialer.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import { runHook } from '../container/lifecycle-hooks.ts'
import { runProbe } from './probe-check.ts'

const { signal } = new AbortController()
const container = { name: 'c' } as Container

/** Records what is sent, and responds with 200. */
function recordingDialer() {
  const recorded = { dialled: [] as string[], text: '' }
  const dialer: PodDialer = {
    connect(target) {
      recorded.dialled.push(target.host)
      return Promise.resolve({
        pieces: (async function* () {
          yield new TextEncoder().encode('HTTP/1.1 200 OK\r\n\r\n')
        })(),
        write: (piece: Uint8Array) => Promise.resolve(void (recorded.text += Buffer.from(piece).toString('latin1'))),
        end: () => {},
        destroy: () => {},
      })
    },
    checkHealth: () => Promise.reject(new Error('not used')),
  }
  return { dialer, recorded }
}

/** The outcome of a probe and of a hook with this action, which must send the same. */
async function sentBy(action: Partial<HTTPGetAction>): Promise<{ readonly outcome: string; readonly text: string }> {
  const httpGet = { port: 80, scheme: 'HTTP', ...action } as HTTPGetAction
  const target = { container, containerId: 'id', podIp: '10.0.0.1' }
  const clock = new VirtualClock(0)
  const runtime = { exec: () => Promise.reject(new Error('not used')) }
  const ofProbe = recordingDialer()
  const probe = { httpGet, timeoutSeconds: 1, periodSeconds: 1, successThreshold: 1, failureThreshold: 1 }
  const outcome = await runProbe(
    probe,
    target,
    { runtime, clock, dialer: ofProbe.dialer, sendOn: nodeSendOn },
    signal,
  ).then(
    (result) => ('message' in result ? `${result.kind}: ${result.message}` : result.kind),
    (error: Error) => `error: ${error.message}`,
  )
  const ofHook = recordingDialer()
  const hook = runHook({ httpGet }, target, { runtime, clock, dialer: ofHook.dialer, sendOn: nodeSendOn }, signal)
  if (outcome === 'success') await hook
  else await rejects(hook)
  deepEqual(ofHook.recorded, ofProbe.recorded)
  return { outcome, text: ofProbe.recorded.text }
}

/** The headers of every request. */
const defaults = ['host: 10.0.0.1:80', 'connection: close', 'User-Agent: kube-probe/1.36', 'Accept: */*']

const paths: [path: string, target: string][] = [
  ['/healthz?full=1&x=a b', '/healthz?full=1&x=a%20b'],
  ['healthz#top', '/healthz'],
  ['/a b"<>\\^`{|}', '/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D'],
  ['/é/\u{1f600}?ü', '/%C3%A9/%F0%9F%98%80?%C3%BC'],
  ['/%41%2f', '/%41%2f'],
  ['/100%?x', '/100%25%3Fx'],
  ['/a HTTP/1.1\r\nHost: evil\r\n\r\nGET /b', '/a%20HTTP/1.1%0D%0AHost:%20evil%0D%0A%0D%0AGET%20/b'],
  ['/x?a\nb', '/x%3Fa%0Ab'],
  ['/\0', '/%00'],
  ['/\ud800', '/%EF%BF%BD'],
  ['//evil.example/x', '/x'],
  ['https://evil.example:1/x?y', '/x?y'],
  ['/../a/./b', '/../a/./b'],
]
for (const [path, target] of paths)
  test(`the path ${JSON.stringify(path)} is requested as ${target}`, async () => {
    const { outcome, text } = await sentBy({ path })
    equal(outcome, 'success')
    equal(text, `GET ${target} HTTP/1.1\r\n${defaults.join('\r\n')}\r\n\r\n`)
  })

const url = 'Get "http://10.0.0.1:80/"'
const headers: [headers: HTTPGetAction['httpHeaders'], expected: string | readonly string[]][] = [
  [[{ name: 'x-key', value: ' é ' }], ['X-Key: Ã©']],
  [
    [
      { name: 'X-Key', value: 'a' },
      { name: 'x-key', value: '' },
    ],
    ['X-Key: a', 'X-Key: '],
  ],
  [[{ name: '__proto__', value: 'a' }], ['__proto__: a']],
  [
    [
      { name: 'Content-Length', value: '10' },
      { name: 'transfer-encoding', value: 'chunked' },
      { name: 'Connection', value: 'keep-alive' },
      { name: 'Keep-Alive', value: 'timeout=5' },
      { name: 'Upgrade', value: 'websocket' },
      { name: 'Expect', value: '100-continue' },
    ],
    [],
  ],
  [[{ name: 'X', value: 'a\r\nY: b' }], `failure: ${url}: net/http: invalid header field value for "X"`],
  [[{ name: 'X', value: 'a\0' }], `failure: ${url}: net/http: invalid header field value for "X"`],
  [[{ name: 'Host', value: 'h\r\nY: b' }], `failure: ${url}: net/http: invalid header field value for "Host"`],
  [[{ name: 'X: a\r\nY', value: 'b' }], `failure: ${url}: net/http: invalid header field name "X: a\\r\\nY"`],
  [[{ name: '', value: 'b' }], `failure: ${url}: net/http: invalid header field name ""`],
]
for (const [httpHeaders = [], expected] of headers)
  test(`the headers ${JSON.stringify(httpHeaders)}`, async () => {
    const { outcome, text } = await sentBy({ httpHeaders })
    if (typeof expected === 'string') return deepEqual([outcome, text], [expected, ''])
    equal(outcome, 'success')
    equal(text, `GET / HTTP/1.1\r\n${[...defaults, ...expected].join('\r\n')}\r\n\r\n`)
  })

const hostHeaders: [value: string, sent: string][] = [
  ['web.example:8080', 'web.example:8080'],
  ['a b', ''],
  ['é', ''],
  ['', '10.0.0.1:80'],
]
for (const [value, sent] of hostHeaders)
  test(`the Host header ${JSON.stringify(value)} is sent as ${JSON.stringify(sent)}`, async () => {
    const { text } = await sentBy({ httpHeaders: [{ name: 'Host', value }] })
    equal(/^host: (.*)\r$/m.exec(text)?.[1], sent)
  })

const hosts: [host: string, outcome: string][] = [
  ['web.example', 'success'],
  ['2001:db8::1', 'success'],
  ['fe80::1%eth0', 'success'],
  ['a b', 'error: parse "http://a b:80/": invalid character " " in host name'],
  ['a\r\nX: y', 'error: parse "http://[a\\r\\nX: y]:80/": invalid character "\\r" in host name'],
  ['user@evil', 'error: parse "http://user@evil:80/": invalid character "@" in host name'],
  ['a/b', 'error: parse "http://a/b:80/": invalid character "/" in host name'],
]
for (const [host, outcome] of hosts)
  test(`the host ${JSON.stringify(host)}`, async () => equal((await sentBy({ host })).outcome, outcome))
