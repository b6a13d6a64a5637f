// kubectl run, attach, debug and exec with -it on simulated containers, in a real terminal.
import { equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kubectlEnvironment, kubectls, runKubectl } from '../kubectl.ts'
import { startUp, type RunningUp } from '../process.ts'
import { openTerminal, type PseudoTerminal } from '../top/pty.ts'
import { until } from '../until.ts'

let up: RunningUp
before(async () => (up = await startUp('--store', 'memory')))
after(() => up[Symbol.asyncDispose]())

const kubectl = kubectls().at(-1)
const k = async (...args: string[]): Promise<string> => {
  if (kubectl === undefined) throw new Error('kubectls() fails without one')
  const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args)
  equal(code, 0, err)
  return out
}
const inTerminal = (...args: string[]): PseudoTerminal =>
  openTerminal([kubectl?.path ?? '', ...args], { ...kubectlEnvironment(up.kubeconfig), TERM: 'xterm' })
const prints = (terminal: PseudoTerminal, text: string): Promise<void> => until(() => terminal.written().includes(text))

test('kubectl run -it is a shell, whose end ends the pod', async () => {
  await using terminal = inTerminal('run', 'a', '-it', '--image=busybox', '--restart=Never', '--', 'sh')
  await prints(terminal, '/ # ')
  terminal.type('echo one two\r')
  await prints(terminal, '\r\none two\r\n')
  terminal.type('sleep 1000\r')
  await prints(terminal, 'sleep 1000\r\n')
  terminal.type('\x03')
  await prints(terminal, '^C\r\n')
  terminal.type('exit\r')
  equal(await terminal.ended, 130)
  await k('wait', '--for=jsonpath={.status.phase}=Failed', 'pod/a', '--timeout=60s')
  match(await k('get', 'pod', 'a', '-o', 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}'), /^130$/)
})

test('kubectl attach -it reaches the same kind of shell, and a program that cannot run says so', async () => {
  await k('run', 'b', '--image=busybox', '--stdin', '--tty')
  await k('run', 'c', '--image=python', '--stdin', '--tty', '--', 'python')
  await k('wait', '--for=condition=Ready', 'pod/b', 'pod/c', '--timeout=60s')
  {
    await using terminal = inTerminal('attach', '-it', 'b')
    await prints(terminal, '/ # ')
    terminal.type('exit\r')
    equal(await terminal.ended, 0)
  }
  await using terminal = inTerminal('attach', '-it', 'c')
  await prints(terminal, '"python" was not run: container c is simulated and has no programs\r\n')
  equal(await terminal.ended, 0)
})

test('kubectl debug -it and exec -it are shells', async () => {
  await k('run', 'd', '--image=nginx')
  await k('wait', '--for=condition=Ready', 'pod/d', '--timeout=60s')
  for (const args of [
    ['debug', '-it', 'd', '--image=busybox'],
    ['exec', '-it', 'd', '--', 'sh'],
  ]) {
    await using terminal = inTerminal(...args)
    await prints(terminal, '/ # ')
    terminal.type('echo $HOME works\r')
    await prints(terminal, 'works\r\n/ # ')
    terminal.type('\x04')
    equal(await terminal.ended, 0)
  }
})
