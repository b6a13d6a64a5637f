import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { yieldToPeers } from './yield-to-peers.ts'

test('tasks that start together complete each step together', async () => {
  const passed: string[] = []
  const walk = async (name: string) => {
    for (const step of ['read', 'check', 'write']) {
      passed.push(`${name} ${step}`)
      await yieldToPeers()
    }
  }
  await Promise.all([walk('one'), walk('other')])
  deepEqual(passed, ['one read', 'other read', 'one check', 'other check', 'one write', 'other write'])
})
