import { equal } from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { kubectlProgram } from './kubectl-program.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-kubectl-'))
  for (const file of [
    'checkout/.cache/kubectl/1.9.0/kubectl',
    'checkout/.cache/kubectl/1.36.4/kubectl',
    'bin/kubectl',
  ]) {
    await mkdir(join(folder, file, '..'), { recursive: true })
    await writeFile(join(folder, file), '')
  }
})
after(() => rm(folder, { recursive: true }))

const rows: [what: string, environment: () => Record<string, string>, path: string | undefined][] = [
  [
    'the newest one of the checkout',
    () => ({ PATH: join(folder, 'bin'), COXSWAIN_CHECKOUT: join(folder, 'checkout') }),
    'checkout/.cache/kubectl/1.36.4/kubectl',
  ],
  ['the one of the PATH', () => ({ PATH: `/none:${join(folder, 'bin')}`, COXSWAIN_CHECKOUT: folder }), 'bin/kubectl'],
  ['none', () => ({}), undefined],
]
for (const [what, environment, path] of rows)
  test(`kubectl: ${what}`, () => equal(kubectlProgram(environment()), path && join(folder, path)))

test('kubectl of a folder that is left out does not count', () =>
  equal(kubectlProgram({ PATH: `:${join(folder, 'bin')}/` }, join(folder, 'bin')), undefined))
