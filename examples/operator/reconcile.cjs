// @ts-check
// What the operator does for one website: a Deployment that the website owns, a record in the DNS, and a status. Everything
// can be repeated, so an attempt that fails half-way is simply made again.
const { deployment } = require('coxswain')
const { website } = require('./website.cjs')

const fieldManager = 'website-operator'
const finalizer = 'example.com/dns'

/** @typedef {import('./website.cjs').Website} Website */
/** @typedef {{ set(host: string, target: string): Promise<void>, remove(host: string): Promise<void> }} Dns */
/** @typedef {{ client: import('coxswain').Client, dns: Dns, now(): number }} Deps */

/**
 * @param {Deps} deps
 * @param {Website} site
 * @param {import('coxswain').Context} ctx
 */
async function reconcile(deps, site, ctx) {
  const { namespace, name } = site.metadata
  if (site.metadata.deletionTimestamp !== undefined) return finalize(deps, site, ctx)
  // The finalizer is written before the record, so that no record is left when the website is deleted.
  const held = await withFinalizer(deps, site, ctx)
  await deps.dns.set(held.spec.host, `${name}.${namespace}`)
  const applied = await deps.client.of(deployment).apply(deploymentOf(held), { fieldManager, force: true }, ctx)
  await writeStatus(deps, held, applied, ctx)
}

/** @param {Deps} deps @param {Website} site @param {import('coxswain').Context} ctx */
async function withFinalizer({ client }, site, ctx) {
  const { finalizers = [] } = site.metadata
  if (finalizers.includes(finalizer)) return site
  return client
    .of(website)
    .update({ ...site, metadata: { ...site.metadata, finalizers: [...finalizers, finalizer] } }, ctx)
}

/** @param {Deps} deps @param {Website} site @param {import('coxswain').Context} ctx */
async function finalize({ client, dns }, site, ctx) {
  const { finalizers = [] } = site.metadata
  if (!finalizers.includes(finalizer)) return
  await dns.remove(site.spec.host)
  const others = finalizers.filter((each) => each !== finalizer)
  await client.of(website).update({ ...site, metadata: { ...site.metadata, finalizers: others } }, ctx)
}

/** @param {Website} site */
function deploymentOf({ apiVersion, kind, metadata: { name, namespace = '', uid }, spec }) {
  const labels = { website: name }
  return {
    metadata: {
      name,
      namespace,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: spec.image }] } },
    },
  }
}

/**
 * @param {Deps} deps
 * @param {Website} site
 * @param {import('coxswain').Deployment} applied
 * @param {import('coxswain').Context} ctx
 */
async function writeStatus({ client, now }, site, applied, ctx) {
  const { readyReplicas = 0, observedGeneration: seen = 0 } = applied.status
  const isReady = seen === applied.metadata.generation && readyReplicas === site.spec.replicas
  const before = site.status?.conditions?.find(({ type }) => type === 'Ready')
  const status = isReady ? 'True' : 'False'
  const { generation: observedGeneration } = site.metadata
  const ready = {
    type: 'Ready',
    status,
    reason: isReady ? 'AllReplicasReady' : 'WaitingForReplicas',
    message: `${readyReplicas} of ${site.spec.replicas} replicas are ready`,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : new Date(now()).toISOString(),
    observedGeneration,
  }
  const wanted = { observedGeneration, readyReplicas, conditions: [ready] }
  const isSame = before?.message === ready.message && site.status?.observedGeneration === observedGeneration
  if (!isSame) await client.of(website).updateStatus(/** @type {Website} */ ({ ...site, status: wanted }), ctx)
}

module.exports = { reconcile }
