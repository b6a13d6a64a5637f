import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { logExcerpt, withoutCredentials } from './log-excerpt.ts'

const masked: [text: string, shown: string][] = [
  ['password=hunter2 was rejected', 'password=*** was rejected'],
  ['DB_PASSWORD: hunter2', 'DB_PASSWORD: ***'],
  ['{"apiKey": "hunter2", "user": "a"}', '{"apiKey": ***, "user": "a"}'],
  ['Authorization: Bearer abcdef.ghijkl', 'Authorization: ***'],
  ['sent Bearer abcdef.ghijkl', 'sent Bearer ***'],
  ['postgres://app:hunter2@db:5432/orders', 'postgres://***@db:5432/orders'],
  ['token is missing', 'token is missing'],
  ['https://db:5432/orders', 'https://db:5432/orders'],
]
for (const [text, shown] of masked) test(`${text} is shown as ${shown}`, () => equal(withoutCredentials(text), shown))

test('the last ten lines are shown, without empty ones and control characters', () => {
  const text = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join('\n')
  deepEqual(
    logExcerpt(text),
    [10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((index) => `line ${index}`),
  )
  deepEqual(logExcerpt('\x1b[31mred\x1b[0m\r\n\x07bell\x1b]0;title\x07\n'), ['red', 'bell]0;title'])
  deepEqual(logExcerpt(''), [])
})

test('a long line is cut off', () => {
  const [line = ''] = logExcerpt('x'.repeat(1_000))
  equal(line.length, 200)
  equal(line.at(-1), '…')
})
