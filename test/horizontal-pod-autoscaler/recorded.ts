// recordedIn: the decisions of a recorded table.
import { readFileSync } from 'node:fs'
import type { Decision } from './scenario.ts'

export const recordedIn = (file: URL): readonly Decision[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Decision)
