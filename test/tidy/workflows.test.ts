// The workflows and templates of .github, and the action: they parse, and what they run exists.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
// @ts-expect-error -- plain JavaScript, as all scripts
import { executableArchitectures } from '../../scripts/executable-files.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string | readonly string[]
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> }
        readonly permissions?: Readonly<Record<string, string>>
        readonly 'timeout-minutes'?: number
        readonly steps: readonly { readonly uses?: string; readonly run?: string }[]
      }
    >
  >
}

const { scripts } = JSON.parse(text('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
const workflowOf = (path: string): Workflow => parse(text(path)) as Workflow

for (const path of globSync('.github/workflows/*.yml', { cwd: root }))
  test(`${path} runs what exists, with few permissions and a time limit`, () => {
    const { permissions, jobs } = workflowOf(path)
    deepEqual(permissions, { contents: 'read' })
    for (const [name, job] of Object.entries(jobs)) {
      ok((job['timeout-minutes'] ?? 0) > 0, name)
      for (const { uses, run = '' } of job.steps) {
        if (uses !== undefined) match(uses, /^[\w-]+\/[\w-]+@(?:v\d+|[0-9a-f]{40})$/)
        for (const [, script = ''] of run.matchAll(/npm run ([\w:-]+)/g)) ok(script in scripts, script)
        for (const [, file = ''] of run.matchAll(/((?:scripts|\.ci)\/[\w.-]+)/g))
          ok(existsSync(join(root, file)), `${file} exists`)
      }
    }
  })

test('a release is published with provenance, after the tests, from the files of the release script', () => {
  const { executable, publish } = workflowOf('.github/workflows/release.yml').jobs
  deepEqual(publish?.needs, ['test', 'executable'])
  equal(executable?.strategy?.matrix['runner']?.length, executableArchitectures.length)
  equal(publish?.permissions?.['id-token'], 'write')
  const lines = publish?.steps.map(({ run = '' }) => run) ?? []
  const position = (start: string): number => lines.findIndex((line) => line.startsWith(start))
  ok(position('node scripts/release.mjs --out release') < position('npm publish release/'))
  ok(lines[position('npm publish release/')]?.includes('--provenance'))
})

test('the action passes inputs as variables, never as part of a script', () => {
  const { inputs, runs } = parse(text('action.yml')) as {
    readonly inputs: Readonly<Record<string, unknown>>
    readonly runs: { readonly steps: readonly { readonly run?: string; readonly env?: Record<string, string> }[] }
  }
  for (const { run = '', env = {} } of runs.steps) {
    equal(run.includes('${{'), false, run)
    for (const [, file = ''] of run.matchAll(/(scripts\/[\w.-]+)/g)) ok(existsSync(join(root, file)), file)
    const variables = Object.keys(inputs).map((name) => `INPUT_${name.toUpperCase().replaceAll('-', '_')}`)
    deepEqual(
      Object.keys(env).filter((name) => name.startsWith('INPUT_')),
      variables,
    )
    for (const name of variables) ok(text('scripts/action.sh').includes(name), `${name} is used`)
  }
})

for (const path of globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }))
  test(`${path} parses, and each field has an id once`, () => {
    const { body = [] } = parse(text(path)) as { readonly body?: readonly { type: string; id?: string }[] }
    const ids = body.flatMap(({ type, id }) => (type === 'markdown' ? [] : [id ?? 'none']))
    deepEqual(ids, [...new Set(ids)])
    equal(ids.includes('none'), false)
  })
