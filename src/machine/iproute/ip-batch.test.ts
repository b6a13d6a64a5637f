import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { commandText } from '../../base/net/command-text.ts'
import { requireIpBatch, runIpBatch } from './ip-batch.ts'

const { signal } = new AbortController()
const programThat = (code: number, stderr: string, inputs: string[] = []) => ({
  run: (program: string, args: readonly string[], { input = '' }: { readonly input?: string }) => {
    inputs.push([program, ...args, input].join(' '))
    return Promise.resolve({ code, stdout: '[]', stderr })
  },
})
const commands = [commandText`link set a up`, commandText`link set b up`, commandText`link set c up`]

test('commands are lines of one process; none need no process', async () => {
  const inputs: string[] = []
  await runIpBatch('ip', commands, { processes: programThat(0, '', inputs), options: ['-j'] }, signal)
  await runIpBatch('bridge', [], { processes: programThat(0, '', inputs) }, signal)
  deepEqual(inputs, ['ip -j -force -batch - link set a up\nlink set b up\nlink set c up\n'])
})

test('failures are those of their commands', async () => {
  const processes = programThat(
    1,
    'Cannot find device "a"\nCommand failed -:1\nRTNETLINK answers: no\nCommand failed -:3\n',
  )
  const { failures } = await runIpBatch('ip', commands, { processes }, signal)
  deepEqual(
    [...failures],
    [
      [0, 'Cannot find device "a"'],
      [2, 'RTNETLINK answers: no'],
    ],
  )
  await rejects(requireIpBatch('ip', commands, { processes }, signal), /^Error: ip -batch: Cannot find device "a"$/)
})

test('a program that ends before the last command has failed', async () => {
  for (const stderr of ['no permission', 'x\nCommand failed -:1\nCommand line is not complete.\n'])
    await rejects(runIpBatch('ip', commands, { processes: programThat(1, stderr) }, signal), /ip -batch/)
})

test('a command of several lines is a bug', async () => {
  const bad = commandText`link set a up\nlink set b up`
  await rejects(runIpBatch('ip', [bad], { processes: programThat(0, '') }, signal), /a command is one line/)
  equal(bad.includes('\n'), true)
})
