// The values of etcd's flags, and what is rejected.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../command/command.ts'
import { durationMs, historyOf, listenUrl, positiveInteger, urlsOf } from './etcd-flags.ts'

const urls: readonly [text: string, host: string, port: number, isEncrypted: boolean][] = [
  ['http://localhost:2379', '127.0.0.1', 2379, false],
  ['http://127.0.0.1:0', '127.0.0.1', 0, false],
  ['https://[::1]:2379/', '::1', 2379, true],
  ['http://10.0.0.1', '10.0.0.1', 80, false],
]
for (const [text, host, port, isEncrypted] of urls)
  test(`${text} is an address`, () => {
    deepEqual(urlsOf('listen-client-urls', text).map(listenUrl), [{ host, port, isEncrypted }])
  })

test('a list of URLs is separated by commas', () => {
  equal(urlsOf('listen-client-urls', 'http://127.0.0.1:1,http://127.0.0.1:2').length, 2)
})

for (const text of ['', '127.0.0.1:2379', 'unix://a', 'http://a/b', 'http://a?b', 'http://u@a', 'http://a,'])
  test(`${JSON.stringify(text)} is no list of URLs`, () => {
    throws(
      () => urlsOf('listen-client-urls', text),
      (error: Error) => error instanceof UsageError && error.message.startsWith('--listen-client-urls: '),
    )
  })

const all = { versionsMax: Infinity, bytesMax: Infinity }
const retentions: readonly [mode: string, retention: string, ms: number, versionsMax: number][] = [
  ['periodic', '0', Infinity, Infinity],
  ['periodic', '1', 3_600_000, Infinity],
  ['periodic', '10m', 600_000, Infinity],
  ['periodic', '0s', Infinity, Infinity],
  ['revision', '0', Infinity, Infinity],
  ['revision', '1000', Infinity, 1_000],
]
for (const [mode, retention, ms, versionsMax] of retentions)
  test(`retention ${retention} in mode ${mode}`, () =>
    deepEqual(historyOf(mode, retention), { ms, bounds: { ...all, versionsMax } }))

const rejected: readonly [name: string, read: () => unknown, message: RegExp][] = [
  ['a mode', () => historyOf('never', '1'), /--auto-compaction-mode never is none of periodic, revision/],
  ['a retention', () => historyOf('periodic', 'x'), /--auto-compaction-retention: .*invalid duration/],
  ['a number of revisions', () => historyOf('revision', '1h'), /--auto-compaction-retention 1h is not a whole number/],
  ['a quota', () => positiveInteger('quota-backend-bytes', '2GB'), /--quota-backend-bytes 2GB is not a whole number/],
  ['a negative time', () => durationMs('watch-progress-notify-interval', '-1s'), /-1s is negative/],
]
for (const [name, read, message] of rejected)
  test(`${name} is rejected`, () =>
    throws(read, (error: Error) => error instanceof UsageError && message.test(error.message)))
