// The DNS server on real sockets, asked by dig, by the resolver of Node.js (c-ares) and by that of the system, with
// dnsmasq as its upstream server.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { service, type ServiceInput } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSliceInput } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { context } from '../../src/base/observability/context.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { until } from '../until.ts'
import { dig, startDnsmasq, startTestDns, type TestDns } from './dns.harness.ts'

const ctx = context(new AbortController().signal)
const own = '127.0.0.10'
const upstream = '127.0.0.53'
const svc = 'default.svc.cluster.local'

const create = (dns: TestDns, name: string, spec: NonNullable<ServiceInput['spec']>) =>
  dns.client.of(service).create({ metadata: { name }, spec }, 'default', ctx)

const createSlice = (dns: TestDns, name: string, endpoints: NonNullable<EndpointSliceInput['endpoints']>) =>
  dns.client.of(endpointSlice).create(
    {
      metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints,
      ports: [{ name: 'http', port: 8080 }],
    },
    'default',
    ctx,
  )

async function startWithObjects(resolvConf = ''): Promise<TestDns> {
  const dns = await startTestDns(own, resolvConf)
  const ports = [{ name: 'http', port: 80 }]
  await create(dns, 'web', { clusterIP: '10.96.7.7', ports })
  await create(dns, 'peers', { clusterIP: 'None', ports })
  await create(dns, 'many', { clusterIP: 'None', ports })
  await create(dns, 'outside', { type: 'ExternalName', externalName: 'www.example.test' })
  await createSlice(dns, 'peers', [{ addresses: ['10.0.0.5'], hostname: 'peers-0' }, { addresses: ['10.0.0.6'] }])
  await createSlice(
    dns,
    'many',
    Array.from({ length: 200 }, (_, index) => ({ addresses: [`10.1.0.${index}`] })),
  )
  await until(async () => (await dns.dig('+tcp', `many.${svc}`)).length === 201)
  return dns
}

inNamespaces(import.meta.url, () => {
  describe('names of the cluster', async () => {
    const dns = await startWithObjects()
    const rows: readonly [readonly string[], readonly string[]][] = [
      [[`web.${svc}`], ['NOERROR authoritative', `web.${svc}. A 10.96.7.7`]],
      [[`WEB.${svc}`], ['NOERROR authoritative', `WEB.${svc}. A 10.96.7.7`]],
      [
        ['+tcp', `web.${svc}`],
        ['NOERROR authoritative', `web.${svc}. A 10.96.7.7`],
      ],
      [
        ['+noedns', `web.${svc}`],
        ['NOERROR authoritative', `web.${svc}. A 10.96.7.7`],
      ],
      [
        ['-t', 'SRV', `_http._tcp.peers.${svc}`, '+noadditional'],
        [
          'NOERROR authoritative',
          `_http._tcp.peers.${svc}. SRV 0 50 8080 10-0-0-6.peers.${svc}.`,
          `_http._tcp.peers.${svc}. SRV 0 50 8080 peers-0.peers.${svc}.`,
        ],
      ],
      [[`peers-0.peers.${svc}`], ['NOERROR authoritative', `peers-0.peers.${svc}. A 10.0.0.5`]],
      [
        ['-x', '10.96.7.7'],
        ['NOERROR authoritative', `7.7.96.10.in-addr.arpa. PTR web.${svc}.`],
      ],
      [
        ['-x', '10.0.0.5'],
        ['NOERROR authoritative', `5.0.0.10.in-addr.arpa. PTR peers-0.peers.${svc}.`],
      ],
      [
        ['-t', 'TXT', 'dns-version.cluster.local'],
        ['NOERROR authoritative', 'dns-version.cluster.local. TXT "1.1.0"'],
      ],
      [
        ['10-1-2-3.default.pod.cluster.local'],
        ['NOERROR authoritative', '10-1-2-3.default.pod.cluster.local. A 10.1.2.3'],
      ],
      [
        ['-t', 'ANY', '+notcp', `web.${svc}`],
        ['NOERROR authoritative', `web.${svc}. HINFO "RFC8482" ""`],
      ],
      [['-c', 'CH', '-t', 'TXT', 'version.bind'], ['REFUSED']],
      [['+opcode=UPDATE', `web.${svc}`], ['NOTIMP']],
      [['+edns=1', '+noednsneg', `web.${svc}`], ['BADVERS']],
      [['www.example.test'], ['SERVFAIL']],
    ]
    for (const [options, expected] of rows)
      test(`dig ${options.join(' ')}`, async () => {
        const [status, ...records] = await dns.dig(...options)
        assert.deepEqual([status, ...records.toSorted()], expected)
      })

    test('a denial has the authority and a short time to live', async () => {
      const [status, soa = ''] = await dns.dig(`missing.${svc}`)
      assert.equal(status, 'NXDOMAIN authoritative')
      assert.match(
        soa,
        /^cluster\.local\. SOA ns\.dns\.cluster\.local\. hostmaster\.cluster\.local\. \d+ 7200 1800 86400 5$/,
      )
    })

    test('a zone transfer is refused', async () => {
      const { stdout } = await promisify(execFile)('dig', [`@${own}`, 'cluster.local', 'AXFR', '+tries=1'])
      assert.match(stdout, /Transfer failed/)
    })

    const sizes: readonly [readonly string[], boolean, number][] = [
      [['+noedns', '+ignore'], true, 512],
      [['+bufsize=4096', '+ignore'], true, 1232],
      [['+bufsize=800', '+ignore'], true, 800],
      [['+tcp'], false, 65_535],
      // dig repeats a truncated query over TCP.
      [['+bufsize=1232'], false, 65_535],
    ]
    for (const [options, isTruncated, bytesMax] of sizes)
      test(`200 addresses with ${options.join(' ')}: ${isTruncated ? 'truncated' : 'complete'}`, async () => {
        const { stdout } = await promisify(execFile)('dig', [`@${own}`, '+tries=1', ...options, `many.${svc}`])
        const bytes = Number(/MSG SIZE {2}rcvd: (\d+)/.exec(stdout)?.[1])
        assert.equal(/flags:[^;]* tc/.test(stdout), isTruncated)
        assert.ok(bytes <= bytesMax && bytes > bytesMax / 25, `${bytes} bytes`)
        if (!isTruncated) assert.equal(stdout.match(/\sA\s+10\.1\.0\./g)?.length, 200)
      })

    test('the resolver of Node.js', async () => {
      const resolver = new Resolver()
      resolver.setServers([own])
      assert.deepEqual((await resolver.resolve4(`peers.${svc}`)).toSorted(), ['10.0.0.5', '10.0.0.6'])
      assert.equal((await resolver.resolve4(`many.${svc}`)).length, 200)
      assert.deepEqual(await resolver.reverse('10.96.7.7'), [`web.${svc}`])
      assert.deepEqual(await resolver.resolveTxt('dns-version.cluster.local'), [['1.1.0']])
      const [found] = await resolver.resolveSrv(`_http._tcp.web.${svc}`)
      assert.deepEqual([found?.name, found?.port], [`web.${svc}`, 80])
      await assert.rejects(resolver.resolve6(`web.${svc}`), { code: 'ENODATA' })
      await assert.rejects(resolver.resolve4(`missing.${svc}`), { code: 'ENOTFOUND' })
    })

    test("the resolver of the system, with the search path of a pod's resolv.conf", async () => {
      const run = promisify(execFile)
      const folder = '/run'
      // Without an address beyond loopback the resolver does not look up addresses.
      await run('ip', ['address', 'add', '192.0.2.50/32', 'dev', 'lo'])
      await run('mount', ['-t', 'tmpfs', 'tmpfs', folder])
      const text = `nameserver ${own}\nsearch ${svc} svc.cluster.local cluster.local\noptions ndots:5\n`
      await writeFile(`${folder}/resolv.conf`, text)
      await run('mount', ['--bind', `${folder}/resolv.conf`, '/etc/resolv.conf'])
      for (const name of ['web', 'web.default', 'web.default.svc', `web.${svc}`, `web.${svc}.`]) {
        const { stdout } = await run('getent', ['ahostsv4', name])
        assert.match(stdout, /^10\.96\.7\.7 /, name)
      }
    })

    test('a change of endpoints is served', async () => {
      await dns.client.of(endpointSlice).delete('peers-1', 'default', {}, ctx)
      await until(async () => (await dns.dig(`peers.${svc}`))[0] === 'NXDOMAIN authoritative')
      await createSlice(dns, 'peers', [{ addresses: ['10.0.0.8'], conditions: { ready: true } }])
      await until(async () => (await dns.dig(`peers.${svc}`)).includes(`peers.${svc}. A 10.0.0.8`))
    })

    test('hostile datagrams and streams do not stop it', async () => {
      const random = seededRandom(1)
      const socket = createSocket('udp4')
      for (let count = 0; count < 5_000; count++) {
        const bytes = random.bytes(random.below(80))
        // Half of them look like queries with one question.
        if (count % 2 === 0) bytes.set([0, count & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0].slice(0, bytes.length))
        await new Promise((resolve) => socket.send(bytes, 53, own, resolve))
      }
      socket.close()
      const stream = connect(53, own)
      stream.on('error', () => {})
      stream.write(random.bytes(10_000))
      await new Promise((resolve) => stream.once('close', resolve))
      assert.deepEqual(await dns.dig(`web.${svc}`), ['NOERROR authoritative', `web.${svc}. A 10.96.7.7`])
      assert.equal(dns.logged(), '')
    })

    test('the server stops', async () => {
      await dns[Symbol.asyncDispose]()
    })
  })

  test('other names are forwarded and cached', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `--host-record=many.example.test,10.2.0.${index},300`)
    const records = ['--host-record=www.example.test,192.0.2.7,300', '--local=/example.test/', '--auth-ttl=300']
    const dnsmasq = await startDnsmasq(upstream, ...records, ...many)
    await using dns = await startWithObjects(`nameserver ${upstream}\n`)
    const answer = ['NOERROR', 'www.example.test. A 192.0.2.7']
    assert.deepEqual(await dns.dig('www.example.test'), answer)
    assert.deepEqual(await dns.dig(`outside.${svc}`), [
      'NOERROR',
      `outside.${svc}. CNAME www.example.test.`,
      'www.example.test. A 192.0.2.7',
    ])
    assert.equal((await dns.dig('missing.example.test'))[0], 'NXDOMAIN')
    // More than a datagram holds, so the server itself uses TCP.
    assert.equal((await dns.dig('+tcp', 'many.example.test')).length, 101)
    await dnsmasq[Symbol.asyncDispose]()
    assert.deepEqual(await dns.dig('www.example.test'), answer)
    assert.deepEqual(await dns.dig('uncached.example.test'), ['SERVFAIL'])
    assert.match(
      dns.metrics.text(),
      /coredns_cache_hits_total\{type="success",server="dns:\/\/:53",zones="\.",view=""\} [1-9]/,
    )
    assert.match(
      dns.metrics.text(),
      /coredns_proxy_request_duration_seconds_count\{.*to="127\.0\.0\.53:53",rcode="NOERROR"\}/,
    )
  })

  test('a silent or unreachable server is skipped', async () => {
    await using _dnsmasq = await startDnsmasq(upstream, '--host-record=www.example.test,192.0.2.7,300')
    await using dns = await startWithObjects(`nameserver 127.0.0.99\nnameserver ${upstream}\n`)
    assert.deepEqual(await dns.dig('www.example.test'), ['NOERROR', 'www.example.test. A 192.0.2.7'])
  })

  test('an upstream server that forwards queries back is found', async () => {
    await using _dnsmasq = await startDnsmasq(upstream, `--server=${own}`)
    await using dns = await startWithObjects(`nameserver ${upstream}\n`)
    await until(() => dns.logged().includes('forwards queries to this server'))
    assert.deepEqual(await dns.dig('www.example.test'), ['SERVFAIL'])
    assert.deepEqual(await dig(upstream, `web.${svc}`), ['NOERROR authoritative', `web.${svc}. A 10.96.7.7`])
  })
})
