import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { FileTree, usedBytes } from './file-tree.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const textAt = (tree: FileTree, path: string): string => {
  const { content } = tree.file(path, 'open')
  return typeof content === 'function' ? '' : new TextDecoder().decode(content)
}

function filled(isReadOnly = false): FileTree {
  const tree = new FileTree()
  tree.makeDirectory('/data/deep', 0o755)
  tree.write('/data/file', bytes('1'), 0o644)
  const view = new FileTree(isReadOnly)
  if (!isReadOnly) view.makeDirectory('/volume', 0o755)
  if (!isReadOnly) view.mount('/volume', tree.directory('/data', 'open'), true)
  return view
}

test('failed operations have the code of the system call', () => {
  const cases: [what: string, act: (tree: FileTree) => void, message: string][] = [
    ['a missing file', (tree) => tree.file('/x', 'open'), "ENOENT: no such file or directory, open '/x'"],
    ['a missing parent', (tree) => tree.write('/x/y', bytes(''), 0), "ENOENT: no such file or directory, open '/x/y'"],
    ['a directory', (tree) => tree.file('/volume', 'read'), "EISDIR: illegal operation on a directory, read '/volume'"],
    [
      'no directory',
      (tree) => tree.directory('/volume/file', 'scandir'),
      "ENOTDIR: not a directory, scandir '/volume/file'",
    ],
    ['a file on the way', (tree) => tree.find('/volume/file/x'), "ENOTDIR: not a directory, stat '/volume/file/x'"],
    [
      'a file as parent',
      (tree) => tree.makeDirectory('/volume/file/x', 0),
      "ENOTDIR: not a directory, mkdir '/volume/file/x'",
    ],
    [
      'a read-only mount',
      (tree) => tree.write('/volume/new', bytes(''), 0),
      "EROFS: read-only file system, open '/volume/new'",
    ],
    [
      'a directory in it',
      (tree) => tree.makeDirectory('/volume/new', 0),
      "EROFS: read-only file system, mkdir '/volume/new'",
    ],
    ['a file in it', (tree) => tree.remove('/volume/file'), "EROFS: read-only file system, unlink '/volume/file'"],
    [
      'replacing a directory',
      (tree) => tree.replace('/', bytes(''), 0),
      "EISDIR: illegal operation on a directory, rename '/'",
    ],
    [
      'writing a directory',
      (tree) => tree.write('/', bytes(''), 0),
      "EISDIR: illegal operation on a directory, open '/'",
    ],
  ]
  for (const [what, act, message] of cases) throws(() => act(filled()), { message }, what)
})

test('a read-only tree can only be changed in its mounts', () => {
  throws(() => filled(true).makeDirectory('/x', 0), { code: 'EROFS' })
})

test('a mount keeps a file that was replaced, and shows what is written into it', () => {
  const tree = new FileTree()
  tree.write('/a', bytes('old'), 0o644)
  tree.write('/b', bytes(''), 0o644)
  tree.mount('/b', tree.file('/a', 'open'))
  tree.write('/a', bytes('written'), 0o644)
  equal(textAt(tree, '/b'), 'written')
  tree.replace('/a', bytes('new'), 0o644)
  deepEqual([textAt(tree, '/a'), textAt(tree, '/b')], ['new', 'written'])
  throws(() => tree.remove('/b'), { code: 'EBUSY' })
  tree.unmount('/b')
  equal(textAt(tree, '/b'), '')
  tree.remove('/b')
  tree.remove('/b')
  equal(tree.find('/b'), undefined)
})

test('a directory is limited in size, wherever it is mounted', () => {
  const tree = new FileTree()
  tree.makeDirectory('/volume', 0o755).bytesMax = 10
  const container = new FileTree()
  container.makeDirectory('/data', 0o755)
  container.mount('/data', tree.directory('/volume', 'open'))
  container.write('/data/a', bytes('12345678'), 0o644)
  throws(() => container.write('/data/b', bytes('123'), 0o644), { code: 'ENOSPC' })
  container.write('/data/a', bytes('1234567'), 0o644)
  container.write('/data/b', bytes('123'), 0o644)
  equal(usedBytes(tree.directory('/volume', 'open')), 10)
  equal(usedBytes(container.directory('/', 'open')), 10)
})
