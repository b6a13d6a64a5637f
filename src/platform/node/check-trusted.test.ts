// Whose files are trusted.
import { doesNotThrow, throws } from 'node:assert/strict'
import type { Stats } from 'node:fs'
import { test } from 'node:test'
import { checkTrusted } from './check-trusted.ts'

const own = process.getuid?.() ?? 0
const stats = (uid: number, mode: number) => ({ uid, mode }) as Stats

const cases: readonly [name: string, uid: number, mode: number, problem: RegExp | undefined][] = [
  ['own, private', own, 0o100_600, undefined],
  ['own, readable by all', own, 0o100_644, undefined],
  ['of root', 0, 0o100_644, undefined],
  ['own, writable by the group', own, 0o100_664, /^Error: \/a can be written by others; .*: chmod go-w \/a$/],
  ['of root, writable by all', 0, 0o100_646, /^Error: \/a can be written by others/],
  ['of another user', own + 1, 0o100_600, new RegExp(`^Error: /a belongs to user ${own + 1}; .*: chown ${own} /a$`)],
]
for (const [name, uid, mode, problem] of cases)
  test(`a file is ${problem === undefined ? 'trusted' : 'not trusted'}: ${name}`, () => {
    const check = () => checkTrusted('/a', stats(uid, mode))
    if (problem === undefined) doesNotThrow(check)
    else throws(check, problem)
  })
