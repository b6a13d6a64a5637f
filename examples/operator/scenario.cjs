// @ts-check
// What the operator must do, once for all three test runners: a whole cluster, and what may go wrong. Time is virtual.
const assert = require('node:assert/strict')
const { customResourceDefinition, deployment, startCluster, StatusError } = require('coxswain')
const { runOperator } = require('./operator.cjs')
const { website } = require('./website.cjs')

/** A DNS in memory, which can be out of order. */
class FakeDns {
  /** @type {Map<string, string>} */
  records = new Map()
  isDown = false

  /** @param {string} host @param {string} target */
  async set(host, target) {
    if (this.isDown) throw new Error('the DNS does not respond')
    this.records.set(host, target)
  }

  /** @param {string} host */
  async remove(host) {
    if (this.isDown) throw new Error('the DNS does not respond')
    this.records.delete(host)
  }
}

/** A cluster with the definition, and a running operator that can be stopped and started. */
async function startWithOperator() {
  const cluster = await startCluster({ crds: [website] })
  const { client, clock } = cluster
  const dns = new FakeDns()
  const sites = client.of(website)
  const start = () => {
    const ending = new AbortController()
    const running = runOperator({ client, dns, clock, now: () => clock.nowMs() }, ending.signal)
    return async () => {
      ending.abort()
      await running
    }
  }
  let stop = start()
  return {
    cluster,
    dns,
    sites,
    deployments: client.of(deployment),
    /** @param {string} name */
    create: (name) => sites.create({ metadata: { name }, spec: { host: `${name}.example.com`, image: 'nginx' } }),
    /** Resolves when the website is ready in its current generation. @param {string} name */
    ready: (name) =>
      cluster.until(async () => {
        const { metadata, status } = await sites.get(name)
        const condition = status?.conditions?.find(({ type }) => type === 'Ready')
        return condition?.status === 'True' && condition.observedGeneration === metadata.generation
      }),
    stopOperator: () => stop(),
    startOperator: () => (stop = start()),
    async stop() {
      await stop()
      await cluster.stop()
    },
  }
}

/** @param {(run: Awaited<ReturnType<typeof startWithOperator>>) => Promise<void>} steps */
const withOperator = (steps) => async () => {
  const run = await startWithOperator()
  try {
    await steps(run)
  } finally {
    await run.stop()
  }
}

/** @param {string} text */
const rejectedWith = (text) => (/** @type {unknown} */ error) =>
  error instanceof StatusError && error.code === 422 && error.message.includes(text)

/** Each throws when the operator fails. */
const scenario = {
  'creates a Deployment and a record, and reports when the website is ready': withOperator(async (run) => {
    await run.create('blog')
    await run.ready('blog')
    const { metadata, spec, status } = await run.sites.get('blog')
    assert.deepEqual([spec.replicas, status?.readyReplicas], [1, 1])
    assert.equal(status?.conditions?.[0]?.message, '1 of 1 replicas are ready')
    assert.equal((await run.deployments.get('blog')).metadata.ownerReferences?.[0]?.uid, metadata.uid)
    assert.equal(run.dns.records.get('blog.example.com'), 'blog.default')
  }),
  'follows changes of the website, and restores what another client changed': withOperator(async (run) => {
    await run.create('blog')
    await run.ready('blog')
    await run.sites.modify('blog', (copy) => (copy.spec.replicas = 3))
    await run.ready('blog')
    assert.equal((await run.sites.get('blog')).status?.readyReplicas, 3)
    await run.deployments.modify('blog', (copy) => (copy.spec.replicas = 7))
    await run.cluster.until(async () => (await run.deployments.get('blog')).spec.replicas === 3)
  }),
  'invalid websites are rejected by the schema': withOperator(async (run) => {
    /** @type {any} */
    const noImage = { metadata: { name: 'blog' }, spec: { host: 'Blog!', replicas: 11 } }
    await assert.rejects(run.sites.create(noImage), rejectedWith('spec.image: Required value'))
    await assert.rejects(run.sites.create(noImage), rejectedWith('spec.host: Invalid value: "Blog!"'))
    await assert.rejects(run.sites.create(noImage), rejectedWith('spec.replicas: Invalid value: 11'))
    await run.create('blog')
    const rename = run.sites.modify('blog', (copy) => (copy.spec.host = 'other.example.com'))
    await assert.rejects(rename, rejectedWith('the host cannot be changed'))
  }),
  'removes the record before a deleted website is gone, and the Deployment after it': withOperator(async (run) => {
    await run.create('blog')
    await run.ready('blog')
    run.dns.isDown = true
    await run.sites.delete('blog')
    await run.cluster.clock.advance('10s')
    assert.deepEqual((await run.sites.get('blog')).metadata.finalizers, ['example.com/dns'])
    assert.match(await run.cluster.why(website, 'blog'), /example\.com\/dns/)
    run.dns.isDown = false
    await run.cluster.until(async () => (await run.sites.find('blog')) === undefined)
    assert.equal(run.dns.records.size, 0)
    await run.cluster.until(async () => (await run.deployments.find('blog')) === undefined)
  }),
  'tries again after a conflict': withOperator(async (run) => {
    run.cluster.faults.reject({ verb: 'update', kind: website, times: 3 })
    await run.create('blog')
    await run.ready('blog')
    assert.match(run.cluster.flow(website, 'blog'), /409 Conflict/)
  }),
  'continues when its watches break, however they break': withOperator(async (run) => {
    for (const fault of /** @type {const} */ (['gone', 'reset'])) {
      await run.cluster.clock.settle()
      assert.equal(run.cluster.faults.breakWatches(fault, { kind: website, sender: 'test' }), 1)
      await run.create(fault)
      await run.ready(fault)
    }
  }),
  'continues where it was stopped': withOperator(async (run) => {
    run.cluster.faults.reject({ verb: 'patch', kind: deployment, sender: 'test', code: 503, times: 1_000 })
    await run.create('blog')
    await run.cluster.until(() => run.dns.records.has('blog.example.com'))
    await run.stopOperator()
    run.cluster.faults.heal()
    assert.equal(await run.deployments.find('blog'), undefined)
    run.startOperator()
    await run.ready('blog')
  }),
  'finds everything again after a restore': withOperator(async (run) => {
    await run.create('blog')
    await run.ready('blog')
    const snapshot = run.cluster.snapshot()
    await run.sites.delete('blog')
    await run.cluster.until(async () => (await run.sites.find('blog')) === undefined)
    await run.cluster.restore(snapshot)
    await run.cluster.until(() => run.dns.records.has('blog.example.com'))
    await run.ready('blog')
  }),
  'existing websites are served when the schema is tightened': withOperator(async (run) => {
    await run.sites.create({
      metadata: { name: 'blog' },
      spec: { host: 'blog.example.com', image: 'nginx', replicas: 5 },
    })
    await run.ready('blog')
    await run.cluster.client.of(customResourceDefinition).modify('websites.example.com', ({ spec }) => {
      const { properties } = spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec'] ?? {}
      if (properties?.['replicas']) properties['replicas'].maximum = 3
    })
    // What was stored may stay; what is written must be valid.
    await run.sites.modify('blog', (copy) => (copy.spec.image = 'nginx:2'))
    await run.ready('blog')
    const grow = run.sites.modify('blog', (copy) => (copy.spec.replicas = 6))
    await assert.rejects(grow, rejectedWith('spec.replicas: Invalid value: 6'))
    await run.sites.modify('blog', (copy) => (copy.spec.replicas = 2))
    await run.ready('blog')
  }),
}

module.exports = { scenario }
