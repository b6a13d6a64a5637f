// The service proxy with real packets: affinity, source ranges, stale flows, lost rules, rules of others, SCTP, loopback.
import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { commandText, joinCommandText } from '../../src/base/net/command-text.ts'
import { parseIps } from '../../src/base/net/ip-address.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { NftProgram } from '../../src/machine/nftables/nft-program.ts'
import { nftablesContract } from '../../src/machine/nftables/nftables-contract.suite.ts'
import { nodeProcesses } from '../../src/platform/node/process/processes.ts'
import { endpointAt, serviceWith, sliceWith } from '../../src/proxy/routing/routing.harness.ts'
import { removeServiceRules } from '../../src/proxy/service-proxy.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { until } from '../until.ts'
import { attempt } from './attempt.ts'
import { run, serverPort, startNetwork, type TestNetwork } from './network.harness.ts'
import { nodeAddresses, startProxy } from './proxy.harness.ts'
import { receiveInits, sendInit } from './sctp.ts'

const clusterIp = '10.96.0.20'
const a1 = '10.244.0.2'
const a2 = '10.244.0.3'
const b1 = '10.244.1.2'
const waitMs = 5_000
const silentMs = 300

const slice = (addresses: readonly string[], protocol = 'TCP', port = serverPort) =>
  sliceWith(
    addresses.map((address) => endpointAt(address, {}, { nodeName: address === b1 ? 'node-b' : 'node-a' })),
    { ports: [{ name: 'http', protocol, port }] },
  )
const sticky = (timeoutSeconds: number) => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})
const withPort = (port: object) => ({ ports: [{ name: 'http', protocol: 'TCP', port: 80, ...port }] })

inNamespaces(import.meta.url, () => {
  let network: TestNetwork
  before(async () => {
    network = await startNetwork()
  })
  after(() => network[Symbol.asyncDispose]())

  const newNft = () => new NftProgram({ processes: nodeProcesses, clock: realClock })
  const tcp = (from: keyof TestNetwork['machines'], address: string, port: number, forMs = waitMs) =>
    network.machines[from].attempt({ protocol: 'TCP', address, port, waitMs: forMs })
  /** Who responds to repeated connections. */
  const responders = async (from: keyof TestNetwork['machines'], address: string, times: number) => {
    const seen = new Set<string>()
    for (let done = 0; done < times; done++) seen.add((await tcp(from, address, 80)).split(' ')[0] ?? '')
    return [...seen].toSorted()
  }
  /** The program removes its rules at the end of a test. */
  async function withProxy(
    use: (proxy: ReturnType<typeof startProxy>) => Promise<void>,
    more: Parameters<typeof startProxy>[0] = {},
  ) {
    await using proxy = startProxy(more)
    await proxy.proxy.synced
    await use(proxy)
    await removeServiceRules(proxy.nftables)
  }

  nftablesContract('nft in the kernel', newNft, commandText`delete table inet none`)

  test('a program that was killed is started again', async () => {
    await using nftables = newNft()
    equal((await nftables.apply([commandText`add table inet again`])).kind, 'applied')
    const [pid] = run('pgrep -x nft').trim().split('\n')
    run(`kill -9 ${pid}`)
    await until(async () => (await nftables.apply([commandText`add table inet again`])).kind === 'applied')
    await nftables.apply([commandText`delete table inet again`])
  })

  test('a client with affinity keeps its endpoint until the timeout, also when others change', () =>
    withProxy(async ({ services, slices, change }) => {
      await change(() => {
        services.put(serviceWith(sticky(2)))
        slices.put(slice([a1, a2, b1]))
      })
      const [first = ''] = await responders('outside', clusterIp, 1)
      deepEqual(await responders('outside', clusterIp, 20), [first])
      const addressOf: Record<string, string> = { 'pod-a1': a1, 'pod-a2': a2, 'pod-b1': b1 }
      const others = [a1, a2, b1].filter((address) => address !== addressOf[first])
      await change(() => slices.put(slice([addressOf[first] ?? '', others[0] ?? ''])))
      deepEqual(await responders('outside', clusterIp, 20), [first])
      await change(() => slices.put(slice(others)))
      const [second = ''] = await responders('outside', clusterIp, 1)
      notEqual(second, first)
      deepEqual(await responders('outside', clusterIp, 20), [second])
      // The elements expire in the kernel's own time.
      const clients = () =>
        run('nft list table inet coxswain-proxy')
          .split('\n')
          .filter((line) => line.includes('192.168.50.100'))
      equal(clients().length, 1)
      // Every connection begins a new affinity, at random with the same endpoint again.
      await until(async () => {
        await until(() => clients().length === 0)
        return (await responders('outside', clusterIp, 1))[0] !== second
      })
    }))

  test('a client with affinity keeps its endpoint when the proxy is started again and the table is replaced', async () => {
    const start = async () => {
      const proxy = startProxy()
      proxy.services.put(serviceWith(sticky(10_800)))
      proxy.slices.put(slice([a1, a2, b1]))
      await proxy.proxy.synced
      return proxy
    }
    const handle = () =>
      /^table inet coxswain-proxy { # handle (\d+)/.exec(run('nft -a list table inet coxswain-proxy'))?.[1]
    const first = await start()
    const [chosen = ''] = await responders('outside', clusterIp, 1)
    const handleBefore = handle()
    ok(handleBefore !== undefined)
    await first[Symbol.asyncDispose]()
    for (let restart = 0; restart < 3; restart++) {
      await using again = await start()
      notEqual(handle(), handleBefore)
      deepEqual(await responders('outside', clusterIp, 10), [chosen])
      if (restart === 2) await removeServiceRules(again.nftables)
    }
  })

  test('the elements of a set are read with the time until they expire', async () => {
    await using nftables = newNft()
    const set = commandText`inet read clients-default/web`
    const many = Array.from({ length: 100 }, (_, index) => `10.0.0.${index}`)
    await nftables.apply([
      commandText`add table inet read`,
      commandText`add set ${set} { typeof ip saddr; flags dynamic,timeout; timeout 1h; size 1000; }`,
      commandText`add element ${set} { ${joinCommandText(parseIps(many), ', ')} }`,
    ])
    const elements = (await nftables.elements(commandText`inet read`, commandText`clients-default/web`)) ?? []
    deepEqual(elements.map((element) => element.split(' ')[0]).toSorted(), many.toSorted())
    ok(elements.every((element) => /^\S+ expires \S+$/.test(element)))
    const again = [
      commandText`flush set ${set}`,
      commandText`add element ${set} { ${joinCommandText(elements, ', ')} }`,
    ]
    deepEqual(await nftables.apply(again), { kind: 'applied' })
    await nftables.apply([commandText`flush set ${set}`])
    deepEqual(await nftables.elements(commandText`inet read`, commandText`clients-default/web`), [])
    equal(await nftables.elements(commandText`inet read`, commandText`none`), undefined)
    await nftables.apply([commandText`delete table inet read`])
  })

  test('only clients in the source ranges reach the address of a load balancer', () =>
    withProxy(async ({ services, slices, change }) => {
      const status = { loadBalancer: { ingress: [{ ip: '198.51.100.8', ipMode: 'VIP' }] } }
      const ranges = (...loadBalancerSourceRanges: string[]) =>
        serviceWith({ type: 'LoadBalancer', loadBalancerSourceRanges }, {}, status)
      await change(() => {
        services.put(ranges('192.168.50.100/32'))
        slices.put(slice([a1]))
      })
      match(await tcp('outside', '198.51.100.8', 80), /^pod-a1/)
      equal(await tcp('node-b', '198.51.100.8', 80, silentMs), 'silent')
      match(await tcp('node-b', clusterIp, 80), /^pod-a1/, 'other addresses are open')
      await change(() => services.put(ranges('192.168.50.0/24', '192.168.50.2/32', '10.0.0.0/8')))
      for (const client of ['node-b', 'outside', 'pod-a2', 'node-a'] as const)
        match(await tcp(client, '198.51.100.8', 80), /^pod-a1/, client)
    }))

  test('the address of the node is the address of a load balancer: its port only, also with the policy Local', () =>
    withProxy(async ({ services, slices, change }) => {
      const address = '192.168.50.1'
      const status = { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' }] } }
      const balanced = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }
      await change(() => {
        services.put(serviceWith(balanced, {}, status))
        slices.put(slice([a1, b1]))
      })
      for (const client of ['outside', 'node-b', 'pod-a2', 'pod-b1', 'node-a'] as const)
        match(await tcp(client, address, 80), /^pod-(a1|b1)/, client)
      doesNotMatch(await tcp('outside', address, 81, silentMs), /^pod/, 'other ports are those of the machine')
      await change(() => services.put(serviceWith({ ...balanced, externalTrafficPolicy: 'Local' }, {}, status)))
      for (let times = 0; times < 5; times++)
        match(await tcp('outside', address, 80), /^pod-a1 192\.168\.50\.100/, 'the client is visible')
      await change(() => services.put(serviceWith(balanced)))
      doesNotMatch(await tcp('outside', address, 80, silentMs), /^pod/)
    }))

  test('a UDP client with one socket reaches the remaining endpoint when its own is gone', () =>
    withProxy(async ({ services, slices, change }) => {
      await change(() => {
        services.put(serviceWith(withPort({ protocol: 'UDP' })))
        slices.put(slice([a1], 'UDP'))
      })
      const { createSocket } = await import('node:dgram')
      const socket = createSocket('udp4')
      const next = () =>
        new Promise<string>((resolve) => void socket.once('message', (bytes) => resolve(bytes.toString())))
      await new Promise<void>((resolve) => {
        socket.connect(80, clusterIp, resolve)
      })
      const ask = () => {
        const answer = next()
        socket.send('?')
        return answer
      }
      match(await ask(), /^pod-a1/)
      match(run('conntrack -L -p udp 2>/dev/null'), /dst=10.96.0.20/)
      await change(() => slices.put(slice([a2], 'UDP')))
      await until(() => !run('conntrack -L -p udp 2>/dev/null').includes('src=10.244.0.2 '))
      match(await ask(), /^pod-a2/)
      // The target port changes: no response comes from the other port, but packets are sent there.
      await change(() => slices.put(slice([a2], 'UDP', 9_999)))
      await until(() => !run('conntrack -L -p udp 2>/dev/null').includes('src=10.244.0.3 '))
      socket.on('error', () => undefined)
      socket.send('?')
      await until(() => /src=10.244.0.3 dst=\S+ sport=9999 /.test(run('conntrack -L -p udp 2>/dev/null')))
      socket.close()
    }))

  test('a UDP client with one socket reaches another endpoint if its own disappeared while no proxy was running', async () => {
    const udp = serviceWith(withPort({ protocol: 'UDP' }))
    const { createSocket } = await import('node:dgram')
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => {
      socket.connect(80, clusterIp, resolve)
    })
    const ask = () =>
      new Promise<string>((resolve) => {
        socket.once('message', (bytes) => resolve(bytes.toString()))
        socket.send('?')
      })
    {
      await using proxy = startProxy()
      proxy.services.put(udp)
      proxy.slices.put(slice([a1], 'UDP'))
      await proxy.proxy.synced
      match(await ask(), /^pod-a1/)
    }
    match(await ask(), /^pod-a1/, 'the rules remain')
    await using proxy = startProxy()
    proxy.services.put(udp)
    proxy.slices.put(slice([a2], 'UDP'))
    await until(() => !run('conntrack -L -p udp 2>/dev/null').includes('src=10.244.0.2 '))
    match(await ask(), /^pod-a2/)
    socket.close()
    await removeServiceRules(proxy.nftables)
  })

  test('connections that one side has closed are tracked for an hour', () =>
    withProxy(async () => {
      const setting = 'net.netfilter.nf_conntrack_tcp_timeout_close_wait'
      await until(() => run(`sysctl -n ${setting}`).trim() === '3600')
    }))

  test('an unused port or address of the Service range responds immediately or not at all', () =>
    withProxy(async ({ services, slices, change }) => {
      await change(() => {
        services.put(serviceWith())
        slices.put(slice([a1]))
      })
      for (const client of ['pod-a2', 'node-a', 'outside'] as const) {
        equal(await tcp(client, clusterIp, 81), 'refused', client)
        equal(await tcp(client, '10.96.9.9', 80, silentMs), 'silent', client)
      }
    }))

  test('rules that are flushed are restored, and rules of others are not touched', async () => {
    let addressReads = 0
    const counting = {
      nodeAddresses() {
        addressReads++
        return nodeAddresses
      },
    }
    await withProxy(async ({ services, slices, change, registry }) => {
      run(
        'nft "add table ip mine; add chain ip mine c; add rule ip mine c ip saddr 192.0.2.1 drop; add set ip mine s { type ipv4_addr; elements = { 192.0.2.7 }; }"',
      )
      const others = () => run('nft list table ip mine')
      const known = others()
      await change(() => {
        services.put(serviceWith())
        slices.put(slice([a1]))
      })
      const fullSyncs = () => /sync_full_proxy_rules_duration_seconds_count (\d+)/.exec(registry.text())?.[1]
      const losses = [
        'nft delete table inet coxswain-proxy',
        'nft flush chain inet coxswain-proxy dispatch4',
        'nft flush chain inet coxswain-proxy nat-postrouting',
        'nft flush chain inet coxswain-proxy check-prerouting; nft flush chain inet coxswain-proxy check-output',
        'nft flush map inet coxswain-proxy services4',
      ]
      for (const loss of losses) {
        const syncsBefore = fullSyncs()
        run(loss)
        await until(() => fullSyncs() !== syncsBefore)
        match(await tcp('pod-a2', clusterIp, 80), /^pod-a1/, loss)
      }
      equal(others(), known)
      run('nft flush ruleset')
      await until(async () => (await tcp('pod-a2', clusterIp, 80, silentMs)).startsWith('pod-a1'))
      const syncsBefore = fullSyncs()
      // The addresses are read before each check. When they are read again, the check in between has ended.
      const read = addressReads
      await until(() => addressReads >= read + 2)
      equal(fullSyncs(), syncsBefore, 'complete rules are left alone')
    }, counting)
  })

  test('a proxy that starts again replaces the rules without a gap', async () => {
    const stop = new AbortController()
    let attempts = 0
    let failures = 0
    const connecting = async () => {
      while (!stop.signal.aborted) {
        attempts++
        if (!(await attempt({ protocol: 'TCP', address: clusterIp, port: 80, waitMs })).startsWith('pod-a1')) failures++
      }
    }
    const put = ({ services, slices }: ReturnType<typeof startProxy>) => {
      services.put(serviceWith())
      slices.put(slice([a1]))
    }
    let running: Promise<void> | undefined
    for (let round = 0; round < 5; round++) {
      await using proxy = startProxy()
      put(proxy)
      await proxy.proxy.synced
      running ??= connecting()
      const seen = attempts
      await until(() => attempts > seen + 20)
    }
    stop.abort()
    await running
    ok(attempts > 100)
    equal(failures, 0, `of ${attempts} connections`)
    await using nftables = newNft()
    await removeServiceRules(nftables)
    equal(run('nft list tables').includes('coxswain'), false)
  })

  test('SCTP: packets reach the endpoint, or are refused', () =>
    withProxy(async ({ services, slices, change }) => {
      const pid = (name: string) => network.pids.get(name) ?? 0
      const both = {
        clusterIPs: [clusterIp, 'fd96::20'],
        ...withPort({ protocol: 'SCTP', port: 90, nodePort: 30_090 }),
      }
      const slice6 = sliceWith([endpointAt('fd01::a:2')], {
        addressType: 'IPv6',
        ports: [{ name: 'http', protocol: 'SCTP', port: serverPort }],
      })
      await change(() => services.put(serviceWith({ type: 'NodePort', ...both })))
      for (const [client, address] of [
        ['pod-a2', clusterIp],
        ['outside', clusterIp],
        ['pod-a2', 'fd96::20'],
      ] as const)
        equal(await sendInit(pid(client), address, 90, 5), 'refused', `${client} ${address}`)
      await change(() => {
        slices.put(slice([a1], 'SCTP'))
        slices.put({ ...slice6, metadata: { ...slice6.metadata, name: 'web-6' } })
      })
      using received4 = await receiveInits(pid('pod-a1'), 'IPv4')
      using received6 = await receiveInits(pid('pod-a1'), 'IPv6')
      for (const client of ['pod-a2', 'outside', 'node-b'])
        for (const [address, port, { ports }] of [
          [clusterIp, 90, received4],
          ['192.168.50.1', 30_090, received4],
          ['fd96::20', 90, received6],
          ['fd50::1', 30_090, received6],
        ] as const) {
          ports.length = 0
          await sendInit(pid(client), address, port, 0.05)
          await until(() => ports.length > 0)
          deepEqual([...new Set(ports)], [serverPort], `${client} ${address}`)
        }
    }))

  test('node ports at 127.0.0.1: for this machine, not for pods', () =>
    withProxy(
      async ({ services, slices, change }) => {
        await change(() => {
          services.put(serviceWith({ type: 'NodePort', ...withPort({ nodePort: 30_080 }) }))
          slices.put(slice([a1]))
        })
        match(await tcp('node-a', '127.0.0.1', 30_080), /^pod-a1 10.244.0.1/)
        const { createServer } = await import('node:net')
        await using secret = createServer((socket) => socket.end('secret'))
        await new Promise<void>((resolve) => void secret.listen(9_999, '127.0.0.1', resolve))
        run(
          `nsenter -t ${network.pids.get('pod-a1')} -n sh -ec 'sysctl -qw net.ipv4.conf.all.route_localnet=1; ip addr del 127.0.0.1/8 dev lo; ip route add 127.0.0.1 via 10.244.0.1'`,
        )
        equal(await tcp('pod-a1', '127.0.0.1', 9_999, silentMs), 'silent')
        run(
          `nsenter -t ${network.pids.get('pod-a1')} -n sh -ec 'ip route del 127.0.0.1 via 10.244.0.1; ip addr add 127.0.0.1/8 dev lo'`,
        )
      },
      { nodeAddresses: () => ['127.0.0.1'], loopbackInterface: 'cni0' },
    ))
})
