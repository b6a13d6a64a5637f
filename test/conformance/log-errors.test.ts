import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { logErrors } from './log-errors.ts'

const entry = (level: string, message: string, more: object = {}) => JSON.stringify({ level, message, ...more })

test('errors of a log are counted by message, with the first as an example', () => {
  const first = entry('error', 'a request failed', { path: '/a' })
  const log = [
    'ready in 5 ms',
    entry('warn', 'slow'),
    entry('error', 'the disk is full'),
    first,
    entry('error', 'a request failed', { path: '/b' }),
    '{ cut off',
  ].join('\n')
  deepEqual(logErrors(log), [
    { message: 'a request failed', count: 2, example: first },
    { message: 'the disk is full', count: 1, example: entry('error', 'the disk is full') },
  ])
})
