// Everything that names the version of Coxswain names the same one: that of package.json.
import { deepEqual, equal, match } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { version as versionCommand } from '../../src/cli/commands/version.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

interface PackageFields {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
const fieldsOf = (path: string): PackageFields => JSON.parse(text(path)) as PackageFields

const { version } = fieldsOf('package.json')

test('the version has three numbers', () => match(version, /^\d+\.\d+\.\d+$/))

test('the lock file and the examples have the version of the package', () => {
  const lock = JSON.parse(text('package-lock.json')) as PackageFields & { packages: { '': PackageFields } }
  deepEqual([lock.version, lock.packages[''].version], [version, version])
  const examples = globSync('examples/*/package.json', { cwd: root })
  for (const path of examples) {
    const { dependencies, devDependencies } = fieldsOf(path)
    equal({ ...dependencies, ...devDependencies }['coxswain'], version, path)
  }
})

test('the changelog begins with what is unreleased and the version of the package', () => {
  const headings = [...text('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)
  deepEqual(headings.slice(0, 2), ['Unreleased', version])
  const numbers = headings.slice(1)
  const newestFirst = numbers.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  deepEqual(numbers, newestFirst, 'the newest version first')
  equal(new Set(numbers).size, numbers.length, 'each version once')
})

test('coxswain version prints the version of the package', async () => {
  let printed = ''
  const out = (line: string) => void (printed += line)
  const { signal } = new AbortController()
  const terminal = { out, err: out, isTerminal: false, environment: {}, signal, startedMs: 0 }
  equal(await versionCommand.run({ operands: [], options: {} }, terminal), 0)
  match(printed, new RegExp(`^coxswain ${RegExp.escape(version)}, `))
})
