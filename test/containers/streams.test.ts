// Streams into real containers with real kubectl: logs, exec, attach, cp, port-forward and proxy, over WebSocket and
// SPDY.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { LogRotator } from '../../src/kubelet/logs/log-rotator.ts'
import { NodeLogFiles } from '../../src/machine/logs/node-log-files.ts'
import { kubectlEnvironment, kubectls, runKubectl, type Kubectl } from '../kubectl.ts'
import { until, untilMatch } from '../until.ts'
import { server } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'
import { startStreamsNode, type StreamsNode } from './streams.harness.ts'

/** kubectl uses WebSocket by default; older versions, and this one when configured, use SPDY. */
const protocols = [
  ['by default', {}],
  ['over SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
] as const

inNamespaces(import.meta.url, () => {
  const controller = new AbortController()
  let node: StreamsNode
  before(async () => {
    node = await startStreamsNode(controller.signal)
    await node.run('web', server)
  })
  const children: ChildProcess[] = []
  after(async () => {
    for (const child of children) child.kill('SIGKILL') // those of failed tests
    await node[Symbol.asyncDispose]()
    controller.abort()
  })

  /** A kubectl that runs concurrently with the test. */
  const start = (kubectl: Kubectl, args: readonly string[], environment: object = {}): ChildProcess => {
    const child = spawn(kubectl.path, args, { env: { ...kubectlEnvironment(node.kubeconfig), ...environment } })
    children.push(child)
    return child
  }

  for (const kubectl of kubectls()) {
    const k = (args: readonly string[], input = '', environment: Record<string, string> = {}) =>
      runKubectl(kubectl, node.kubeconfig, args, { input, environment })
    const name = (what: string) => `${what}-${kubectl.version.replaceAll('.', '-')}`

    for (const [how, environment] of protocols) {
      test(`kubectl ${kubectl.version} exec ${how}: separate streams, stdin to its end, exit codes`, async () => {
        const both = await k(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2'], '', environment)
        deepEqual(both, { code: 0, out: 'out\n', err: 'err\n' })
        const failed = await k(['exec', 'web', '--', 'sh', '-c', 'exit 7'], '', environment)
        deepEqual([failed.code, failed.err], [7, 'command terminated with exit code 7\n'])
        const echoed = await k(['exec', '-i', 'web', '--', 'sh', '-c', 'cat; echo end'], 'some input\n', environment)
        deepEqual([echoed.code, echoed.out], [0, 'some input\nend\n'])
        const unread = await k(['exec', '-i', 'web', '--', 'echo', 'done'], 'x'.repeat(10_000), environment)
        deepEqual([unread.code, unread.out], [0, 'done\n'], 'a command need not read its input')
      })

      test(`kubectl ${kubectl.version} cp ${how}: 50 MB in both directions`, async () => {
        const folder = join(node.test.folder, name('cp'))
        await mkdir(folder)
        const block = createHash('sha512').update(kubectl.version).digest()
        const content = Buffer.alloc(50_000_000, block)
        await writeFile(join(folder, 'there'), content)
        const there = await k(['cp', join(folder, 'there'), 'web:/tmp/file'], '', environment)
        equal(there.code, 0, there.err)
        const sum = createHash('sha256').update(content).digest('hex')
        const summed = await k(['exec', 'web', '--', 'sha256sum', '/tmp/file'], '', environment)
        equal(summed.out, `${sum}  /tmp/file\n`)
        const back = await k(['cp', 'web:/tmp/file', join(folder, 'back')], '', environment)
        equal(back.code, 0, back.err)
        equal(
          createHash('sha256')
            .update(await readFile(join(folder, 'back')))
            .digest('hex'),
          sum,
        )
        await rm(folder, { recursive: true })
      })

      test(`kubectl ${kubectl.version} port-forward ${how}: 1,000 requests`, async () => {
        const pod = name(how === 'by default' ? 'httpd' : 'httpd-spdy')
        const page = 'echo "a page" > /tmp/index.html; httpd -p 8080 -h /tmp; echo serving; exec sleep 1000'
        await node.run(pod, ['/bin/sh', '-c', page])
        await untilMatch(async () => (await k(['logs', pod])).out, /^serving$/m)
        const forwarding = start(kubectl, ['port-forward', `pod/${pod}`, ':8080'], environment)
        const port = await new Promise<string>((resolve, reject) => {
          if (forwarding.stdout === null) return
          createInterface({ input: forwarding.stdout }).on('line', (line) => {
            const found = /127\.0\.0\.1:(\d+) -> 8080/.exec(line)?.[1]
            if (found !== undefined) resolve(found)
          })
          forwarding.stderr?.on('data', (bytes: Buffer) => reject(new Error(bytes.toString())))
        })
        let served = 0
        const fetchSome = async (count: number) => {
          for (let i = 0; i < count; i++) {
            const answer = await fetch(`http://127.0.0.1:${port}/index.html`, { headers: { connection: 'close' } })
            if ((await answer.text()) === 'a page\n') served++
          }
        }
        await Promise.all(Array.from({ length: 8 }, () => fetchSome(125)))
        equal(served, 1_000)
        forwarding.kill('SIGTERM')
        await once(forwarding, 'exit')
      })

      test(`kubectl ${kubectl.version} attach ${how}: the output, and input where stdin is open`, async () => {
        const pod = name(how === 'by default' ? 'attached' : 'attached-spdy')
        await node.run(pod, ['/bin/sh', '-c', 'while read line; do echo "got $line"; done; echo bye'], {
          stdin: 'once',
        })
        const attached = await k(['attach', '-i', pod], 'one\ntwo\n', environment)
        deepEqual([attached.code, attached.out], [0, 'got one\ngot two\nbye\n'], attached.err)
      })
    }

    test(`kubectl ${kubectl.version} exec -t: a terminal of the right size`, async () => {
      const command = `${kubectl.path} exec -it web -- sh -c 'until stty size | grep -q 91; do sleep 0.1; done; stty size; exit 5'`
      const script = spawn('script', ['-qec', `stty cols 91 rows 17; ${command}`, '/dev/null'], {
        env: { ...kubectlEnvironment(node.kubeconfig), SHELL: '/bin/sh' },
      })
      let out = ''
      script.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()))
      const [code] = (await once(script, 'close')) as [number]
      match(out, /17 91/)
      equal(code, 5, out)
    })

    test(`kubectl ${kubectl.version} logs: all, tail, since, timestamps, limit, previous`, async () => {
      const pod = name('logs')
      await node.run(pod, ['/bin/sh', '-c', 'for i in 1 2 3; do echo line $i; done; sleep 0.2; echo oops >&2; exit 3'])
      const all = async (...args: string[]) => (await k(['logs', pod, ...args])).out
      await until(async () => (await all()).includes('oops'))
      equal((await all()).split('\n').length, 5)
      equal(await all('--limit-bytes=9'), 'line 1\nli')
      match(await all('--tail=1', '--timestamps'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(Z|[+-]\d\d:\d\d) \w/)
      equal(await all('--tail=0'), '')
      equal((await all('--since=1h')).split('\n').length, 5)
      equal(await all('--since-time=2100-01-01T00:00:00Z'), '')
      const none = await k(['logs', pod, '--previous'])
      match(none.err, /previous terminated container "main" in pod "logs-[\d-]+" not found/)
      await node.restart(pod, ['/bin/sh', '-c', 'echo second; exec sleep 1000'])
      await until(async () => (await all()) === 'second\n')
      match(await all('--previous'), /line 3/)
    })

    test(`kubectl ${kubectl.version} logs -f over rotations loses nothing and ends with the container`, async () => {
      const pod = name('follow')
      const script = 'i=0; while true; do i=$((i+1)); echo "line $i of the log"; [ $((i%100)) = 0 ] && sleep 0.1; done'
      const id = await node.run(pod, ['/bin/sh', '-c', script])
      const { runtime } = node.test.containerd
      const logs = join(node.test.folder, 'logs')
      // The names of rotated files have a resolution of seconds, so each round is a minute for the rotator.
      let round = 0
      const clock = { ...realClock, nowMs: () => realClock.nowMs() + round * 60_000 }
      const rotator = new LogRotator(
        { runtime, directory: new NodeLogFiles(logs), clock, log: silentLog },
        { fileBytesMax: 5_000, filesMax: 3, intervalMs: 10_000 },
      )
      const newest = async () => (await k(['logs', pod, '--tail=1'])).out
      const following = start(kubectl, ['logs', '-f', pod])
      const seen: string[] = []
      if (following.stdout !== null) createInterface({ input: following.stdout }).on('line', (line) => seen.push(line))
      const closed = once(following, 'close')
      for (; round < 5; round++) {
        const seenBefore = seen.length
        await until(() => seen.length > seenBefore + 300)
        await rotator.rotateAll(controller.signal)
        // A follower can handle one rotation at a time: it has reached the new file.
        const printed = Number(/\d+/.exec(await untilMatch(newest, /\d/))?.[0])
        await until(() => seen.length >= printed)
      }
      await runtime.stopContainer(id, 0, controller.signal)
      deepEqual(await closed, [0, null])
      deepEqual(
        seen,
        Array.from(seen, (_, i) => `line ${i + 1} of the log`),
      )
      equal(await newest(), `${seen.at(-1)}\n`)
      const files = await new NodeLogFiles(logs).list(join(logs, pod, 'main', '0.log'))
      deepEqual([files.length, files.filter((file) => file.endsWith('.gz')).length], [3, 1], files.join(' '))
    })

    test(`kubectl ${kubectl.version} proxy: the kubelet's paths through the API server`, async () => {
      const proxy = start(kubectl, ['proxy', '--port=0'])
      const [line] = (await once(createInterface({ input: proxy.stdout ?? process.stdin }), 'line')) as [string]
      const address = /127\.0\.0\.1:\d+/.exec(line)?.[0]
      const get = async (path: string) => (await fetch(`http://${address}${path}`)).text()
      // As upstream: a node at a loopback address could be any server next to the API server.
      match(await get('/api/v1/nodes/n1/proxy/healthz'), /"message":"address not allowed"/)
      match(await get(`/api/v1/namespaces/default/pods/${name('logs')}/log?container=main`), /second/)
      proxy.kill('SIGTERM')
      await once(proxy, 'exit')
    })

    test(`kubectl ${kubectl.version}: impossible requests are reported`, async () => {
      const err = async (...args: string[]) => (await k(args)).err
      match(await err('exec', 'web', '-c', 'nope', '--', 'true'), /container nope is not valid for pod web/)
      equal(
        await err('logs', 'nope'),
        'error: error from server (NotFound): pods "nope" not found in namespace "default"\n',
      )
      match(await err('exec', 'web', '--', '/no/such/program'), /no such file or directory/)
      match(await err('port-forward', 'pod/nope', ':80'), /pods "nope" not found/)
    })
  }

  test('a node that is down: the kubelet cannot be reached', async () => {
    const [kubectl] = kubectls()
    if (kubectl === undefined) return
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
    }
    await node.call('POST', '/api/v1/nodes', { metadata: { name: 'down' } })
    await node.call('PATCH', '/api/v1/nodes/down/status', { status })
    const spec = { nodeName: 'down', containers: [{ name: 'main', image: 'x' }] }
    await node.call('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'lost' }, spec })
    const refused = 'dial tcp 127.0.0.1:1: connect: connection refused'
    equal(
      (await runKubectl(kubectl, node.kubeconfig, ['logs', 'lost'])).err,
      `Error from server: Get "https://127.0.0.1:1/containerLogs/default/lost/main": ${refused}\n`,
    )
    const status2 = { phase: 'Running' }
    await node.call('PATCH', '/api/v1/namespaces/default/pods/lost/status', { status: status2 })
    match(
      (await runKubectl(kubectl, node.kubeconfig, ['exec', 'lost', '--', 'true'])).err,
      /error dialing backend: dial tcp 127\.0\.0\.1:1: connect: connection refused/,
    )
  })
})
