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
  readonly bin: Readonly<Record<string, string>>
}

const fields = JSON.parse(text('package.json')) as PackageFields
const readme = text('README.md')

/** npm always packs these. */
const packedAlways = ['README.md', 'LICENSE', 'package.json']

const isPacked = (path: string): boolean =>
  packedAlways.includes(path) || fields.files.some((entry) => path === entry || path.startsWith(`${entry}/`))

/** Links of a page to other files, as paths from the root. */
const linksOf = (page: string): string[] =>
  [...text(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link.replace(/#.*$/, ''))
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    .map((link) => normalize(join(dirname(page), link)))

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...(readdirSync(join(root, 'docs'), { recursive: true }) as string[])
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
for (const page of pages)
  test(`links of ${page} work in a clone and in the package`, () => {
    const links = linksOf(page)
    deepEqual(
      links.filter((link) => !existsSync(join(root, link))),
      [],
      'missing files',
    )
    deepEqual(
      links.filter((link) => !isPacked(link)),
      [],
      'files that are not packed',
    )
  })

test('package.json and the README make the same claims', () => {
  const flat = readme.replaceAll(/\s+/g, ' ')
  ok(flat.includes(`${fields.description}.`), 'the description stands in the README')
  const [, oldest] = /^>=(\d+)$/.exec(fields.engines.node) ?? []
  ok(flat.includes(`needs Node.js ${oldest} or newer`), 'the README names the oldest Node.js')
  for (const plugin of ['flow', 'why']) {
    ok(`kubectl-${plugin}` in fields.bin, `kubectl ${plugin} is a program of the package`)
    ok(readme.includes(`\`kubectl ${plugin} `), `the README shows kubectl ${plugin}`)
  }
})
