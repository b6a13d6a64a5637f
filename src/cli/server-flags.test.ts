// V8's flags of servers: they are passed at exec, by the launcher of a checkout and by the packaged program.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string): string => readFileSync(join(root, path), 'utf8')
const wanted = ['--heap-growing-percent=100', '--max-semi-space-size=16', '--no-allocation-site-pretenuring']

/** The arguments that a launcher passes to node for a command. */
function argumentsOf(launcher: string, command: string): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'launcher-'))
  try {
    const [node, program] = [join(directory, 'node'), join(directory, 'program')]
    writeFileSync(node, '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    writeFileSync(program, launcher)
    for (const path of [node, program]) chmodSync(path, 0o755)
    const { stdout, status } = spawnSync(program, [command], {
      encoding: 'utf8',
      env: { PATH: `${directory}:/usr/bin:/bin` },
    })
    equal(status, 0)
    return stdout
      .split('\n')
      .filter((line) => /^--.*(heap|space|pretenuring)/.test(line))
      .toSorted()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The first lines of the packaged program, as the bundler writes them. */
function packagedStart(): string {
  const bundler = text('scripts/bundle.mjs')
  const [, flags = ''] = /const serverFlags = '([^']+)'/.exec(bundler) ?? []
  const [, start = ''] = /const serverStart = `([^`]+)`/.exec(bundler) ?? []
  ok(flags !== '' && start !== '')
  return start.replace('${serverFlags}', flags)
}

const launchers: [name: string, launcher: () => string][] = [
  ['of a checkout', () => text('bin/coxswain')],
  ['of the package', packagedStart],
]
for (const [name, launcher] of launchers)
  test(`the launcher ${name} passes the flags to servers only`, () => {
    for (const command of ['up', 'apiserver']) deepEqual(argumentsOf(launcher(), command), wanted, command)
    ok(argumentsOf(launcher(), 'flow').every((flag) => flag === '--max-semi-space-size=16'))
  })

test('V8 knows every flag', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  for (const flag of wanted) {
    const name = flag.replace(/^--(no-)?/, '').replace(/=.*/, '')
    match(stdout, new RegExp(`^ +--${name} `, 'm'), flag)
  }
})
