import { equal } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { pageFolder, threadModule } from './own-files.ts'

const rows: [where: string, module: string, thread: string, page: string][] = [
  [
    'in the sources',
    'file:///checkout/src/platform/process/own-files.ts',
    'file:///checkout/src/platform/process/disk-thread.ts',
    'file:///checkout/dist/ui/',
  ],
  ['in a bundle', 'file:///dist/reach.cjs', 'file:///dist/disk-thread.mjs', 'file:///dist/ui/'],
  [
    'in an executable',
    'file:///dev/null/vfs/0/reach.cjs',
    'file:///dev/null/vfs/0/disk-thread.mjs',
    'file:///dev/null/vfs/0/ui/',
  ],
]
for (const [where, module, thread, page] of rows)
  test(`${where} the program finds its threads and its page`, () => {
    equal(threadModule('disk-thread', module).href, thread)
    equal(pageFolder(module).href, page)
  })

test('the page of a checkout is built into the folder dist at its root', () =>
  equal(existsSync(new URL('../../package.json', pageFolder())), true))
