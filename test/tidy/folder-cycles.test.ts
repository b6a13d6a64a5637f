// Folders of src/ do not import one another in cycles.
import { deepEqual } from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { folderCycles } from './folder-cycles.ts'
import { parseSource, readSourceFile } from './source-file.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('folders of src are acyclic', (t) => {
  const cycles = folderCycles(globSync('src/**/*.ts', { cwd: root }).map((path) => readSourceFile(root, path)))
  for (const { imports } of cycles) for (const each of imports) t.diagnostic(each)
  deepEqual(
    cycles.map(({ folders }) => folders),
    [],
    'folders that import one another in a cycle',
  )
})

const rows: readonly (readonly [name: string, sources: Readonly<Record<string, string>>, cycles: string[][]])[] = [
  [
    'two folders that import each other through different files',
    {
      'src/a/one.ts': `import type { Two } from '../b/two.ts'`,
      'src/a/three.ts': `export const three = 3`,
      'src/b/two.ts': `import { three } from '../a/three.ts'`,
    },
    [['src/a', 'src/b']],
  ],
  [
    'a folder and its sub-folder',
    {
      'src/a/list.ts': `import './units/unit.ts'`,
      'src/a/units/unit.ts': `import '../shape.ts'`,
      'src/a/shape.ts': '',
    },
    [['src/a', 'src/a/units']],
  ],
  [
    'three folders',
    {
      'src/a/a.ts': `import '../b/b.ts'`,
      'src/b/b.ts': `import '../c/c.ts'`,
      'src/c/c.ts': `await import('../a/a.ts')`,
    },
    [['src/a', 'src/b', 'src/c']],
  ],
  [
    'tests, harnesses and suites are ignored',
    {
      'src/a/a.ts': `import '../b/b.ts'`,
      'src/b/b.test.ts': `import '../a/a.ts'`,
      'src/b/b.harness.ts': `import '../a/a.ts'`,
      'src/b/b.suite.ts': `import '../a/a.ts'`,
      'src/b/b.ts': '',
    },
    [],
  ],
  ['files of one folder', { 'src/a/a.ts': `import './b.ts'`, 'src/a/b.ts': `import './c.ts'`, 'src/a/c.ts': '' }, []],
  [
    'two ways to the same folder',
    { 'src/a/a.ts': `import '../b/b.ts'\nimport '../c/c.ts'`, 'src/b/b.ts': `import '../c/c.ts'`, 'src/c/c.ts': '' },
    [],
  ],
]
for (const [name, sources, cycles] of rows)
  test(`folder cycles: ${name}`, () => {
    const found = folderCycles(Object.entries(sources).map(([path, text]) => parseSource(path, text)))
    deepEqual(
      found.map(({ folders }) => folders),
      cycles,
    )
  })
