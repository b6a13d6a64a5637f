// Commands that exit by themselves in simulated containers: output, duration and exit code.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { seededRandom } from '../../base/random/random.ts'
import { plainContainer, plainSandbox, type ContainerConfig } from './runtime-config.ts'
import { SimulatedRuntime } from './simulated-runtime.ts'

const { signal } = new AbortController()
const environment = [
  { name: 'INDEX', value: '3' },
  { name: 'EMPTY', value: '' },
]

async function started(config: Partial<ContainerConfig>) {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const runtime = new SimulatedRuntime(clock, seededRandom(1))
  const sandbox = plainSandbox('u', '', '')
  const sandboxId = await runtime.runSandbox(sandbox, signal)
  const container = { ...plainContainer('c', 'busybox'), environment, ...config }
  const id = await runtime.createContainer(sandboxId, container, sandbox, signal)
  await runtime.startContainer(id, signal)
  const seen = async () => {
    const found = (await runtime.inspect('u', signal))?.containers[0]
    if (found === undefined) throw new Error('there is no container')
    return found
  }
  const lines = async () => {
    const file = await runtime.logs.open((await seen()).logPath)
    if (file === undefined) throw new Error('there is no log')
    await using log = file
    let at = 0
    let text = ''
    for (let piece = await log.read(at, 10_000); piece.length > 0; piece = await log.read(at, 10_000)) {
      text += new TextDecoder().decode(piece)
      at += piece.length
    }
    return text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ').slice(3).join(' ')]))
  }
  return { clock, runtime, id, seen, lines }
}

const runs = 'runs'
const sh = (script: string) => ['sh', '-c', script]

const commands: [command: string[], end: number | typeof runs, printed: string[], seconds?: number][] = [
  [['true'], 0, []],
  [['false'], 1, []],
  [['/bin/false'], 1, []],
  [['echo', 'hi', 'there'], 0, ['hi there']],
  [['/usr/bin/echo', '-n', 'hi'], 0, ['hi']],
  [['echo', '-e', 'a\\nb'], 0, ['a', 'b']],
  [['echo', '$INDEX', '&&', 'x'], 0, ['$INDEX && x']],
  [['date'], 0, ['Tue Jan  1 00:00:00 UTC 2030']],
  [['date', '+%F %T %s'], 0, ['2030-01-01 00:00:00 1893456000']],
  [['date', '--set=x'], runs, []],
  [['sleep', '5'], 0, [], 5],
  [['sleep', '0.5', '1m'], 0, [], 60.5],
  [['sleep', 'infinity'], runs, []],
  [['sleep', 'well'], runs, []],
  [['nginx', '-g', 'daemon off;'], runs, []],
  [['constructor'], runs, []],
  [['exit', '1'], runs, []],
  [['sh'], runs, []],
  [sh('true'), 0, []],
  [sh('exit 3'), 3, []],
  [sh('exit 256; echo no'), 0, []],
  [sh('false; exit'), 1, []],
  [sh('echo a; echo b'), 0, ['a', 'b']],
  [sh('echo -n a; echo b'), 0, ['ab']],
  [
    sh('date; echo Hello from the Kubernetes cluster'),
    0,
    ['Tue Jan  1 00:00:00 UTC 2030', 'Hello from the Kubernetes cluster'],
  ],
  [sh('echo a && sleep 2 && exit 4'), 4, ['a'], 2],
  [sh('false && echo no || echo yes'), 0, ['yes']],
  [sh('true || echo no; false'), 1, []],
  [sh('echo "Processing $INDEX"; echo \'$INDEX\'; echo ${INDEX}x $EMPTY $UNSET'), 0, ['Processing 3', '$INDEX', '3x']],
  [sh('# what it does\n\necho "a \\"quoted\\" \\$word" \\\n  b # done\nexit 2\n'), 2, ['a "quoted" $word b']],
  [sh('echo oh >&2; echo no 1>&2; exit 1'), 1, ['oh', 'no']],
  [sh('true &&\n  echo next'), 0, ['next']],
  [['/bin/bash', '-c', 'echo bash'], 0, ['bash']],
  [sh('echo starting; nginx'), runs, ['starting']],
  [sh('while true; do date; sleep 1; done'), runs, []],
  [sh('echo a | cat'), runs, []],
  [sh('echo a > /tmp/f; echo -n b>>/tmp/f; cat /tmp/f'), 0, ['a', 'b']],
  [sh('echo a 1> "/tmp/f $INDEX" && cat "/tmp/f 3"; echo b > /dev/null'), 0, ['a']],
  [sh('echo a > /missing/f || echo failed'), 0, ["sh: can't create /missing/f: No such file or directory", 'failed']],
  [
    sh('cat /tmp/f /tmp'),
    1,
    ["cat: can't open '/tmp/f': No such file or directory", "cat: can't open '/tmp': Is a directory"],
  ],
  [sh('mkdir -p /a/b && touch /a/b/c /a/.d && ls /a && ls -A /a && ls /a/b/c'), 0, ['b', '.d', 'b', '/a/b/c']],
  [
    sh('touch /tmp/f; rm /tmp/f; ls /tmp; rm -f /tmp/f && rm /tmp/f'),
    1,
    ["rm: can't remove '/tmp/f': No such file or directory"],
  ],
  [
    sh('rm /tmp; rm -r /tmp; ls /tmp'),
    1,
    ["rm: can't remove '/tmp': Is a directory", 'ls: /tmp: No such file or directory'],
  ],
  [sh('mkdir -p /tmp/f/g; touch /tmp/x/y; mkdir -p /tmp/f'), 0, ['touch: /tmp/x/y: No such file or directory']],
  [['ls', '/'], 0, ['tmp']],
  [['cat'], runs, []],
  [['ls', '-l'], runs, []],
  [['mkdir', '/x'], runs, []],
  [['touch'], runs, []],
  [['rm', '-i', '/x'], runs, []],
  [sh('echo a 2> /tmp/f'), runs, []],
  [sh('echo a >'), runs, []],
  [sh('echo a > /tmp/f > /tmp/g'), runs, []],
  [sh('> /tmp/f'), runs, []],
  [sh('echo a >| /tmp/f'), runs, []],
  [sh('echo $(date)'), runs, []],
  [sh('echo `date`'), runs, []],
  [sh('sleep 1 &'), runs, []],
  [sh('echo "open'), runs, []],
  [sh('&& true'), runs, []],
  [sh('true &&'), runs, []],
  [sh(''), runs, []],
]
for (const [command, end, printed, seconds = 0] of commands)
  test(`simulated: ${JSON.stringify(command.join(' '))} ${end === runs ? 'keeps running' : `exits with ${end}`}`, async () => {
    const { clock, seen, lines } = await started({ command })
    await clock.advance('2m')
    const { state, exitCode, startedMs, finishedMs } = await seen()
    if (end === runs) equal(state, 'running')
    else deepEqual([state, exitCode, (finishedMs - startedMs - 100) / 1_000], ['exited', end, seconds])
    deepEqual(await lines(), printed)
  })

test('simulated: arguments follow the command; without a command they are the command', async () => {
  for (const config of [
    { command: ['sh', '-c'], arguments: ['exit 7'] },
    { command: ['sh'], arguments: ['-c', 'exit 7'] },
    { arguments: ['sh', '-c', 'exit 7'] },
  ]) {
    const { clock, seen } = await started(config)
    await clock.advance('1s')
    equal((await seen()).exitCode, 7)
  }
})

const stops: [why: string, config: Partial<ContainerConfig>, exitCode: number, seconds: number][] = [
  ['PID 1 ignores SIGTERM and is killed', {}, 137, 30],
  ['SIGKILL stops it at once', { stopSignal: 'SIGKILL' }, 137, 0],
  [
    'in a shared PID namespace SIGTERM stops it',
    { security: { ...plainContainer('c', '').security, namespaces: { network: 'pod', processes: 'pod', ipc: 'pod' } } },
    143,
    0,
  ],
]
for (const [why, config, exitCode, seconds] of stops)
  test(`simulated: sleep is stopped: ${why}`, async () => {
    const { clock, runtime, id, seen } = await started({ command: ['sleep', '3600'], ...config })
    await clock.advance('1s')
    const stopping = runtime.stopContainer(id, 30_000, signal)
    await clock.advance('1m')
    await stopping
    const ended = await seen()
    deepEqual([ended.exitCode, (ended.finishedMs - ended.startedMs) / 1_000], [exitCode, 1 + seconds])
  })
