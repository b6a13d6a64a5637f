// The scenario of the example shop, with the library of the source tree. test/package runs it with the package in
// node:test, Vitest and Jest.
import { createRequire, registerHooks } from 'node:module'
import { test } from 'node:test'

const library = new URL('../../src/cluster/index.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'coxswain' ? { url: library, shortCircuit: true } : next(specifier, context),
})
const load = createRequire(import.meta.url)
const { scenario } = load('../../examples/shop/scenario.cjs') as {
  readonly scenario: Readonly<Record<string, () => Promise<void>>>
}

for (const [name, run] of Object.entries(scenario)) test(name, run)
