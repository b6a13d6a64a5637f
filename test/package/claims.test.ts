// The README of the package: its links lead to packed files, and its claims match package.json.
import { deepEqual, ok } from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

interface PackageFields {
  readonly description: string
  readonly files: readonly string[]
  readonly engines: { readonly node: string }
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
}

const fields = JSON.parse(text('package.json')) as PackageFields
const readme = text('README.md')

/** npm always packs these. */
const packedAlways = ['README.md', 'LICENSE', 'package.json']

const isPacked = (path: string): boolean =>
  packedAlways.includes(path) || fields.files.some((entry) => path === entry || path.startsWith(`${entry}/`))

/** Links of a page within the repository: the path from the root, and the heading. */
const linksOf = (page: string): { readonly path: string; readonly anchor: string | undefined }[] =>
  [...text(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = '', anchor] = link.split('#')
      return { path: path === '' ? page : normalize(join(dirname(page), path)), anchor }
    })

/** The anchors of the headings of a page, as GitHub makes them. */
const anchorsOf = (page: string): string[] =>
  [...text(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...['docs', 'bench/results'].flatMap((folder) =>
    (readdirSync(join(root, folder), { recursive: true }) as string[])
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
]
for (const page of pages)
  test(`links of ${page} work in a clone and in the package`, () => {
    const links = linksOf(page)
    deepEqual(
      links.filter(({ path }) => !existsSync(join(root, path))),
      [],
      'missing files',
    )
    deepEqual(
      links.filter(({ path }) => !isPacked(path)),
      [],
      'files that are not packed',
    )
    deepEqual(
      links.filter(({ path, anchor }) => anchor !== undefined && !anchorsOf(path).includes(anchor)),
      [],
      'missing headings',
    )
  })

test('the index of the documentation lists every page once', () => {
  const listed = linksOf('docs/README.md').map(({ path }) => path)
  const topics = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  deepEqual(
    listed.filter((path) => dirname(path) === 'docs').toSorted(),
    topics.map((name) => join('docs', name)).toSorted(),
  )
})

test('package.json and the README make the same claims', () => {
  const flat = readme.replaceAll(/\s+/g, ' ')
  ok(flat.includes(`${fields.description}.`), 'the description stands in the README')
  const [, oldest] = /^>=(\d+)$/.exec(fields.engines.node) ?? []
  ok(flat.includes(`needs Node.js ${oldest} or newer`), 'the README names the oldest Node.js')
  const processors = Object.keys(fields.optionalDependencies).map((name) => name.replace(/^node-linux-/, ''))
  const [, named = ''] = /on Linux \(([^)]+)\)/.exec(flat) ?? []
  deepEqual(
    named.split(' and ').toSorted(),
    processors.toSorted(),
    'the README names the platforms of the pinned Node.js',
  )
  for (const plugin of ['flow', 'why']) {
    ok(`kubectl-${plugin}` in fields.bin, `kubectl ${plugin} is a program of the package`)
    ok(readme.includes(`\`kubectl ${plugin} `), `the README shows kubectl ${plugin}`)
  }
})
