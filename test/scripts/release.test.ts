// What prevents a release, and the form of its checksums.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
// @ts-expect-error -- plain JavaScript, as all scripts
import { checksumLines, executableProblems, releaseProblems } from '../../scripts/release.mjs'

const clean = {
  version: '1.1.0',
  changelog: '# Changelog\n\n## Unreleased\n\n## 1.1.0\n\n- faster\n\n## 1.0.0\n\n- first\n',
  changedFiles: [],
  commit: 'c1',
  taggedCommit: undefined,
}

const rows: [what: string, change: Partial<Record<keyof typeof clean, unknown>>, problems: string[]][] = [
  ['a clean tree', {}, []],
  ['a tree whose commit has the tag', { taggedCommit: 'c1' }, []],
  ['a changed file', { changedFiles: [' M README.md'] }, ['the tree is not clean:  M README.md']],
  ['a version that was released', { taggedCommit: 'c0' }, ['the tag v1.1.0 is another commit; raise the version']],
  [
    'a version without a section',
    { version: '1.2.0' },
    ['the newest version in CHANGELOG.md is 1.1.0, that of package.json 1.2.0'],
  ],
  [
    'a section without changes',
    { changelog: '## Unreleased\n\n## 1.1.0\n\n## 1.0.0\n\n- first\n' },
    ['CHANGELOG.md has no changes of 1.1.0'],
  ],
  [
    'unreleased changes',
    { changelog: '## Unreleased\n\n- slower\n\n## 1.1.0\n\n- faster\n' },
    ['CHANGELOG.md has unreleased changes; move them to the section 1.1.0'],
  ],
  [
    'no section for changes to come',
    { changelog: '## 1.1.0\n\n- faster\n' },
    [
      'CHANGELOG.md does not begin with the section Unreleased',
      'the newest version in CHANGELOG.md is missing, that of package.json 1.1.0',
    ],
  ],
]
for (const [what, change, problems] of rows)
  test(`release of ${what}: ${problems.length === 0 ? 'possible' : 'prevented'}`, () =>
    deepEqual(releaseProblems({ ...clean, ...change }), problems))

test('a release has an executable of each architecture, and no other file of a build', () => {
  const names = ['arm64', 'x64'].flatMap((each) => [
    `coxswain-1.1.0-linux-${each}.tar.gz`,
    `coxswain-1.1.0-linux-${each}.cdx.json`,
  ])
  deepEqual(executableProblems('1.1.0', names), [])
  deepEqual(executableProblems('1.2.0', ['notes.txt', ...names.slice(0, 2)]), [
    'coxswain-1.2.0-linux-arm64.tar.gz is missing',
    'coxswain-1.2.0-linux-arm64.cdx.json is missing',
    'coxswain-1.2.0-linux-x64.tar.gz is missing',
    'coxswain-1.2.0-linux-x64.cdx.json is missing',
    'notes.txt is not part of the release',
    'coxswain-1.1.0-linux-arm64.tar.gz is not part of the release',
    'coxswain-1.1.0-linux-arm64.cdx.json is not part of the release',
  ])
})

test('checksums have the form of sha256sum', () =>
  equal(
    checksumLines([['a.tgz', Buffer.from('abc')]]),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.tgz\n',
  ))
