// Gateways with addresses from a pool: each has a Service of type LoadBalancer, which leads to the proxy.
import { deepEqual, equal } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { gateway } from '../../src/gateway/kinds/gateway-kinds.ts'
import { send } from '../ingress/ingress.harness.ts'
import { until } from '../until.ts'
import { startStage, to, type Stage } from './gateway.harness.ts'

let stage: Stage
before(async () => (stage = await startStage({ pool: '192.0.2.240-192.0.2.243' })))
after(() => stage[Symbol.asyncDispose]())

const addressesOf = async (name: string) =>
  ((await stage.client.of(gateway).get(name)).status?.addresses ?? []).map(({ value }) => value)
/** Where the Service leads: the ports of the proxy by those of the listeners. */
const targetsOf = async (name: string) => {
  const { ports, endpoints } = await stage.client.of(endpointSlice).get(`${name}-coxswain`)
  deepEqual(endpoints?.map(({ addresses, nodeName }) => [addresses, nodeName]), [[['192.0.2.1'], 'node-0']]) // prettier-ignore
  return new Map((ports ?? []).map((port) => [port.name, port.port ?? 0]))
}
/** The Service that responds to a client of the load balancer. */
const served = async (name: string, port: string) => {
  const { status, headers } = await send((await targetsOf(name)).get(port) ?? 0, 'a.example.com', '/')
  return status === 200 ? headers['x-endpoint'] : status
}

test('Gateways with the same port get addresses of the pool', async () => {
  for (const [name, backend] of [
    ['first', 'one'],
    ['second', 'two'],
  ] as const) {
    // prettier-ignore
    await stage.addGateway(name, [stage.http(80)])
    await stage.addRoute(name, { parentRefs: [{ name }], rules: [{ backendRefs: [to(backend)] }] })
    await stage.gatewayCondition(name, 'Programmed', 'True')
    await until(async () => (await served(name, 'port-80')) === backend)
  }
  const [first, second] = await Promise.all(['first', 'second'].map(addressesOf))
  deepEqual([first?.length, second?.length, first?.[0] === second?.[0]], [1, 1, false])
  const { spec, status } = await stage.client.of(service).get('first-coxswain')
  deepEqual([spec.type, spec.externalTrafficPolicy, spec.ports?.map(({ port }) => port)], ['LoadBalancer', 'Local', [80]]) // prettier-ignore
  deepEqual(
    status.loadBalancer?.ingress?.map(({ ip }) => ip),
    first,
  )
})

test('GatewayStaticAddresses: a requested address is that of the load balancer, or not usable', async () => {
  await stage.addGateway('requested', [stage.http(80)], { addresses: [{ type: 'IPAddress', value: '198.51.100.1' }] })
  equal((await stage.gatewayCondition('requested', 'Programmed', 'False'))?.reason, 'AddressNotUsable')
  await stage.client.of(gateway).modify('requested', (object) => {
    object.spec.addresses = [{ type: 'IPAddress', value: '192.0.2.243' }]
  })
  await stage.gatewayCondition('requested', 'Programmed', 'True')
  deepEqual(await addressesOf('requested'), ['192.0.2.243'])
})

test('the ports of the Service follow the listeners', async () => {
  await stage.client
    .of(gateway)
    .modify('first', (object) => void object.spec.listeners.push({ name: 'http-8080', port: 8080, protocol: 'HTTP' }))
  await until(async () => (await targetsOf('first')).size === 2)
  deepEqual([await served('first', 'port-80'), await served('first', 'port-8080')], ['one', 'one'])
  const { spec } = await stage.client.of(service).get('first-coxswain')
  deepEqual(spec.ports?.map(({ port }) => port), [80, 8080]) // prettier-ignore
})

test('a Gateway waits for an address until one is free', async () => {
  await stage.addGateway('third', [stage.http(80)])
  await stage.gatewayCondition('third', 'Programmed', 'True')
  await stage.addGateway('fourth', [stage.http(80)])
  equal((await stage.gatewayCondition('fourth', 'Programmed', 'False'))?.reason, 'AddressNotAssigned')
  // The garbage collector deletes the Service of a deleted Gateway.
  await stage.client.of(gateway).delete('third')
  await stage.gatewayCondition('fourth', 'Programmed', 'True')
  equal(await stage.client.of(service).find('third-coxswain'), undefined)
})

test('a Service of another owner is left alone', async () => {
  await stage.addService('taken-coxswain', 'default', 0)
  await stage.addGateway('taken', [stage.http(80)])
  const condition = await stage.gatewayCondition('taken', 'Programmed', 'False')
  equal(condition?.reason, 'AddressNotAssigned')
  equal((await stage.client.of(service).get('taken-coxswain')).spec.type, 'ClusterIP')
})

test('the Service of a Gateway that gets another class is deleted', async () => {
  await stage.client.of(gateway).modify('second', (object) => void (object.spec.gatewayClassName = 'other'))
  await until(async () => (await stage.client.of(service).find('second-coxswain')) === undefined)
})
