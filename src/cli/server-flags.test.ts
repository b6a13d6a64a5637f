// V8's flags of servers: they are passed at exec, by the launcher of a checkout and by the packaged program.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
// @ts-expect-error -- plain JavaScript: it writes the package
import { programTexts } from '../../scripts/programs.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const flagsFile = join(root, 'bin/server-flags')
const wanted = readFileSync(flagsFile, 'utf8').trim().split(' ')

/** The flags of V8 that a launcher passes to node for a command. */
function flagsOf(launcher: string, command: string): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'launcher-'))
  try {
    mkdirSync(join(directory, 'bin'))
    const node = join(directory, 'node')
    const program = join(directory, 'bin', 'coxswain')
    copyFileSync(flagsFile, join(directory, 'bin', 'server-flags'))
    writeFileSync(node, '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    writeFileSync(program, launcher)
    for (const path of [node, program]) chmodSync(path, 0o755)
    const env = { PATH: `${directory}:/usr/bin:/bin` }
    const { stdout, status } = spawnSync(program, [command], { encoding: 'utf8', env })
    equal(status, 0)
    return stdout.split('\n').filter((line) => line.startsWith('--') && !line.startsWith('--disable-warning'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const launchers: [name: string, launcher: string][] = [
  ['of a checkout', readFileSync(join(root, 'bin/coxswain'), 'utf8')],
  ['of the package', (programTexts as Record<string, string>)['coxswain'] ?? ''],
]
for (const [name, launcher] of launchers)
  test(`the launcher ${name} passes the flags to servers only`, () => {
    for (const command of ['up', 'apiserver', 'server']) deepEqual(flagsOf(launcher, command), wanted, command)
    for (const command of ['flow', 'version']) deepEqual(flagsOf(launcher, command), [], command)
  })

test('V8 knows every flag', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  equal(wanted.length, 3)
  for (const flag of wanted) {
    const name = flag.replace(/^--(no-)?/, '').replace(/=.*/, '')
    match(stdout, new RegExp(`^ +--${name} `, 'm'), flag)
  }
})
