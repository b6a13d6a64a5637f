// Banned words are not used.
import { deepEqual, ok } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { allowedWords, findBannedWords } from './banned-words.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pattern = '{{src,test,bench,scripts,docs,examples}/**/*.{ts,mjs,cjs,md,txt},*.md}'
/** The changelog lists old names. */
const paths = globSync(pattern, { cwd: root }).filter((path) => path !== 'CHANGELOG.md')

test('no banned word is used', () =>
  deepEqual(
    paths.flatMap((path) =>
      findBannedWords(path, readFileSync(join(root, path), 'utf8')).map(
        ({ line, word, instead }) => `${path}:${line} ${word}: write ${instead}`,
      ),
    ),
    [],
  ))

test('every file that may use a word uses it', () => {
  for (const [path, words] of Object.entries(allowedWords)) {
    const text = readFileSync(join(root, path), 'utf8').toLowerCase()
    ok(
      words.some((word) => text.includes(word)),
      `${path} uses none of ${words.join(', ')}`,
    )
  }
})

test('names of files are searched', () =>
  deepEqual(
    findBannedWords('src/csi/csi-upkeep.test.ts', '').map(({ line, word }) => [line, word]),
    [[0, 'upkeep']],
  ))

const rows: readonly (readonly [text: string, words: string[]])[] = [
  ['the road of a request passes stations', ['road', 'station']],
  ['defineStation(roadOf(face))', ['station', 'road', 'face']],
  ['class PodReporter { canHelp() {} }', ['pod reporter', 'can help']],
  ['interface surface broadcast indoors stationary amend', []],
  ['this can help; put it away', []],
  ['const flowTeller = putAway(TELLERS)', ['teller', 'put away', 'teller']],
  ['containers go on; goOn(isInDoubt)', ['go on', 'in doubt']],
  ['where it should go. On a node', []],
  ['nobody was told what it wants; people want it', ['nobody', 'told', 'wants']],
]
for (const [text, words] of rows)
  test(`banned words of ${JSON.stringify(text)}`, () =>
    deepEqual(
      findBannedWords('src/a.ts', text).map(({ word }) => word),
      words,
    ))
