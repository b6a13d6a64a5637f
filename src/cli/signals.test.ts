import { equal } from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { abortedBySignals } from './signals.ts'

const rows: [received: 'SIGINT' | 'SIGTERM', handled: number, second: string][] = [
  ['SIGTERM', 1, 'is ignored'],
  ['SIGINT', 0, 'ends the process'],
]
for (const [received, handled, second] of rows)
  test(`${received} aborts the command, and a second ${received} ${second}`, () => {
    const source = new EventEmitter()
    const signal = abortedBySignals(source, new AbortController())
    equal(signal.aborted, false)
    source.emit(received, received)
    equal((signal.reason as Error).message, `ended by ${received}`)
    equal(source.listenerCount(received), handled)
    source.emit(received, received)
    equal(source.listenerCount(received), handled)
  })
