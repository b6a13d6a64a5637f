// @ts-check
// The operator: a website is reconciled when it, or the Deployment that it owns, has changed, and again after a failure.
const { deployment } = require('coxswain')
const { runController } = require('coxswain/controller')
const { reconcile } = require('./reconcile.cjs')
const { website } = require('./website.cjs')

/**
 * Runs until the signal.
 * @param {import('./reconcile.cjs').Deps & { clock: import('coxswain').Clock }} deps
 * @param {AbortSignal} signal
 */
const runOperator = (deps, signal) =>
  runController(
    deps,
    {
      name: 'website-operator',
      kind: website,
      owns: [deployment],
      reconcile: async ({ object, context }) => {
        // Once a website is deleted, there is nothing to do: its finalizer has removed the record before.
        if (object !== undefined) await reconcile(deps, object, context)
      },
    },
    signal,
  )

module.exports = { runOperator }
