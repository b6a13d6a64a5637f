// @ts-check
// A small operator: every namespace with the label `team` has a ConfigMap `team` that names it, and keeps it.
// It lists, watches from there, goes on where a watch ended, and lists again when the server has forgotten the past.
const { configMap, context, namespace, StatusError } = require('coxswain')

const label = 'team'

/**
 * @param {import('coxswain').Client} client
 * @param {import('coxswain').Context} ctx
 * @param {import('coxswain').ApiObject} home
 */
async function reconcile(client, ctx, { metadata }) {
  const team = metadata.labels?.[label]
  if (team === undefined || metadata.deletionTimestamp !== undefined) return
  const maps = client.of(configMap)
  const data = { team }
  const known = await maps.find('team', metadata.name, ctx)
  try {
    if (known === undefined) await maps.create({ metadata: { name: 'team' }, data }, metadata.name, ctx)
    else if (known.data?.['team'] !== team) await maps.update({ ...known, data }, ctx)
  } catch (error) {
    // Another client was faster: read again.
    if (!(error instanceof StatusError) || error.code !== 409) throw error
    await reconcile(client, ctx, { apiVersion: 'v1', kind: 'Namespace', metadata })
  }
}

/**
 * Runs until the signal.
 * @param {import('coxswain').Client} client
 * @param {AbortSignal} signal
 */
async function runOperator(client, signal) {
  const ctx = context(signal)
  const homes = client.of(namespace)
  /** @type {string | undefined} */
  let resourceVersion
  while (!signal.aborted)
    try {
      if (resourceVersion === undefined) {
        const { items, revision } = await homes.list({}, ctx)
        for (const home of items) await reconcile(client, ctx, home)
        resourceVersion = String(revision)
      }
      for await (const event of homes.watch({ resourceVersion }, ctx)) {
        if (event.type === 'BOOKMARK') resourceVersion = String(event.revision)
        else {
          resourceVersion = event.object.metadata.resourceVersion
          if (event.type !== 'DELETED') await reconcile(client, ctx, event.object)
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof StatusError)) throw error
      resourceVersion = undefined
    }
}

module.exports = { runOperator }
