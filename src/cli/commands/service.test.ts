import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from '../commands.ts'
import { run } from '../run.ts'

const { signal } = new AbortController()

async function typed(argv: readonly string[], environment: Record<string, string> = {}) {
  let printed = ''
  const write = (text: string) => void (printed += text)
  const terminal = { out: write, err: write, isTerminal: false, environment, signal, startedMs: 0 }
  equal(await run(commands, argv, terminal), 0, printed)
  return printed
}

test('the unit of a service, without a change of the machine', async () => {
  const environment = { COXSWAIN_CHECKOUT: '/opt/coxswain' }
  const argv = ['service', 'install', 'up', '--dry-run', '--', '--bind', '192.0.2.1', '--node-cidr-mask-size=25']
  const printed = await typed(argv, environment)
  match(printed, /^# Written by coxswain service install;/)
  match(printed, /^Description=Coxswain up$/m)
  match(printed, /^ExecStart=\/opt\/coxswain\/bin\/coxswain up --bind 192\.0\.2\.1 --node-cidr-mask-size=25$/m)
})

test('the program of a package runs on this Node.js', async () => {
  const printed = await typed(['service', 'install', 'agent', '--dry-run'])
  equal(printed.includes(`ExecStart=${process.execPath}`), true)
  match(printed, /^ExecStart=.* agent$/m)
})
