// Logs: one container is followed, several are read in turns.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LogOptions, LogSource } from '../source/source.ts'
import { logSourcesMax, PodLogs } from './pod-logs.ts'

const source = (pod: string, container = 'c'): LogSource => ({ namespace: 'default', pod, container })
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve()
}

interface Read extends LogOptions {
  readonly pod: string
}

/** Each turn of reading several logs ends in a sleep that `next` ends. */
function logsOf(read: (asked: Read, onText: (text: string) => void) => Promise<void> | void) {
  const asked: Read[] = []
  let turn = Promise.withResolvers<void>()
  const logs = new PodLogs({
    source: {
      actions: {
        readLog: async ({ pod }, options, onText, signal) => {
          signal.throwIfAborted()
          asked.push({ pod, ...options })
          await read({ pod, ...options }, onText)
        },
      },
    },
    sleep: () => turn.promise,
    changed: () => undefined,
  })
  const next = async (): Promise<void> => {
    const { resolve } = turn
    turn = Promise.withResolvers()
    resolve()
    await settled()
  }
  return { logs, asked, next }
}

suite('logs', () => {
  test('one container is followed until it ends; it can be read again', async () => {
    const { logs, asked } = logsOf((_, onText) => onText('one\ntwo\n'))
    logs.follow([source('a')])
    await settled()
    deepEqual([logs.text, logs.hasEnded], ['one\ntwo\n', true])
    logs.follow([source('a')])
    await settled()
    deepEqual(asked, [{ pod: 'a', isPrevious: false, tailLines: 500, isFollowed: true }])
    logs.again()
    logs.follow([source('a')])
    await settled()
    equal(asked.length, 2)
  })

  test('the log before the last restart is not followed; its absence is said', async () => {
    const { logs, asked } = logsOf(() => Promise.reject(new Error('previous terminated container not found')))
    logs.showPrevious(true)
    logs.follow([source('a')])
    await settled()
    deepEqual([asked[0]?.isFollowed, logs.hasEnded], [false, false])
    deepEqual(logs.failures, ['previous terminated container not found'])
    logs.close()
    deepEqual([logs.isPrevious, logs.failures, logs.text], [false, [], ''])
  })

  test('several are merged by time, from the last line on in each turn; one that fails does not hide the others', async () => {
    const { logs, asked, next } = logsOf(({ pod, sinceTime }, onText) => {
      if (pod === 'c') throw new Error('container is waiting')
      onText(pod === 'a' ? '2030-01-01T00:00:02Z two\n' : '2030-01-01T00:00:01Z one\n')
      if (sinceTime !== undefined && pod === 'a') onText('2030-01-01T00:00:03Z three\n')
    })
    logs.follow([source('a'), source('b'), source('c')])
    await settled()
    equal(logs.text, '[b] one\n[a] two\n')
    deepEqual(logs.failures, ['[c]: container is waiting'])
    await next()
    equal(logs.text, '[b] one\n[a] two\n[a] three\n')
    deepEqual(
      asked.filter(({ pod }) => pod === 'a').map(({ sinceTime, tailLines }) => [sinceTime, tailLines]),
      [
        [undefined, 334],
        ['2030-01-01T00:00:02Z', undefined],
      ],
    )
    equal(await logs.whole(), logs.text)
    logs.close()
    const before = asked.length
    await next()
    equal(asked.length, before)
  })

  test('labels have the names that differ', async () => {
    for (const [sources, expected] of [
      [[source('a', 'x'), source('a', 'y')], '[x] l\n[y] l\n'],
      [[source('a', 'x'), source('b', 'x')], '[a] l\n[b] l\n'],
      [[source('a', 'x'), source('b', 'y')], '[a/x] l\n[b/y] l\n'],
    ] as const) {
      const { logs } = logsOf((_, onText) => onText('2030-01-01T00:00:01Z l\n'))
      logs.follow(sources)
      await settled()
      equal(logs.text, expected)
      logs.close()
    }
  })

  test('a limited number is read; the whole of one log is read for a file', async () => {
    const { logs, asked } = logsOf(() => undefined)
    logs.follow(Array.from({ length: logSourcesMax + 5 }, (_, at) => source(String(at))))
    await settled()
    equal(asked.length, logSourcesMax)
    const one = logsOf(({ limitBytes }, onText) => onText(limitBytes === undefined ? 'tail' : 'everything'))
    one.logs.follow([source('a')])
    await settled()
    equal(await one.logs.whole(), 'everything')
    logs.close()
  })
})
