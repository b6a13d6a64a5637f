// Paths that the pages name exist: relative to the root or, as most are written, to src/.
import { deepEqual } from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...globSync(['docs/*.md', 'bench/results/*.md'], { cwd: root }),
]

/** What the build writes, or has not written yet. */
const built = 'dist/'

/** `apiserver/registry/`, `src/store/store.ts`: a path with a folder of the repository first, a file or a folder last. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:ts|mjs|json)))`/g)]
    .map(([, path = '']) => path)
    .filter((path) => path.includes('/') && !path.startsWith(built))

/** Columns of upstream-packages.md that name packages of upstream. */
const withoutUpstream = (text: string): string => text.replaceAll(/^\| [^|]*\|/gm, '|')

const isFolder = (name: string) => ['', 'src/'].some((prefix) => existsSync(join(root, prefix + name)))

for (const page of pages)
  test(`paths of ${page} exist`, () => {
    const text = readFileSync(join(root, page), 'utf8')
    const paths = pathsIn(page.endsWith('upstream-packages.md') ? withoutUpstream(text) : text)
    const missing = (path: string) => !isFolder(path)
    const first = (path: string) => path.split('/')[0] ?? ''
    deepEqual(
      paths.filter((path) => missing(path) && (isFolder(`${first(path)}/`) || page.endsWith('upstream-packages.md'))),
      [],
    )
  })
