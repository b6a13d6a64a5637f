import { doesNotThrow, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { engineFlags, tuneEngine } from './engine.ts'

test('the engine knows every flag that it is given', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  for (const flag of engineFlags) {
    const name = flag.replace(/^--(no-)?/, '').replace(/=.*/, '')
    match(stdout, new RegExp(`^ +--${name} `, 'm'), flag)
  }
  doesNotThrow(tuneEngine)
})
