// The software bill of materials: which packages it lists, and what it says about each.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
// @ts-expect-error -- plain JavaScript, as all scripts
import { packagesOf, sbom } from '../../scripts/sbom.mjs'

const fields = { name: 'tool', version: '1.2.3', description: 'a tool', license: 'Apache-2.0' }
const integrity = `sha512-${Buffer.from('digest').toString('base64')}`
const content = Buffer.from('digest').toString('hex')
const lock = {
  packages: {
    'node_modules/page': { version: '1.0.0', license: 'MIT', integrity, dependencies: { '@scope/inner': '^2.0.0' } },
    'node_modules/@scope/inner': { version: '2.1.0', license: 'BSD-3-Clause', integrity },
    'node_modules/runtime': { version: '3.0.0', license: '(MIT OR ISC)', integrity, dependencies: { deep: '*' } },
    'node_modules/deep': { version: '4.0.0', license: 'ISC', integrity },
    'node_modules/unused': { version: '9.0.0', license: 'MIT', integrity },
    'node_modules/unknown': { version: '9.0.0', license: 'MIT', integrity: 'md5-AAAA' },
  },
}

interface Bill {
  readonly metadata: { readonly component: { readonly purl: string } }
  readonly components: readonly Readonly<Record<string, unknown>>[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}
const billOf = (bundled: readonly string[], installed: readonly string[]): Bill =>
  sbom({ fields, lock, bundled, installed }) as Bill

const modules: [id: string, names: string[]][] = [
  ['/tree/src/cli/main.ts', []],
  ['/tree/node_modules/page/index.js', ['page']],
  ['/tree/node_modules/@scope/inner/lib/a.js', ['@scope/inner']],
  [String.raw`C:\tree\node_modules\page\index.js`, ['page']],
]
for (const [id, names] of modules)
  test(`the package of ${id}`, () => deepEqual(packagesOf([id, id]), names, 'each package once'))

test('a package within a package is rejected', () =>
  throws(() => packagesOf(['/tree/node_modules/page/node_modules/deep/index.js']), /page\/node_modules\/deep/))

test('bundled packages, and installed ones with their dependencies, are listed by their URLs', () => {
  const { metadata, components, dependencies } = billOf(['@scope/inner', 'page'], ['runtime'])
  deepEqual(metadata.component.purl, 'pkg:npm/tool@1.2.3')
  deepEqual(
    components.map(({ purl, properties }) => [purl, (properties as { value: string }[])[0]?.value]),
    [
      ['pkg:npm/%40scope/inner@2.1.0', 'bundled'],
      ['pkg:npm/deep@4.0.0', 'installed'],
      ['pkg:npm/page@1.0.0', 'bundled'],
      ['pkg:npm/runtime@3.0.0', 'installed'],
    ],
  )
  deepEqual(components[0], {
    type: 'library',
    'bom-ref': 'pkg:npm/%40scope/inner@2.1.0',
    group: '@scope',
    name: 'inner',
    version: '2.1.0',
    scope: 'required',
    hashes: [{ alg: 'SHA-512', content }],
    licenses: [{ license: { id: 'BSD-3-Clause' } }],
    purl: 'pkg:npm/%40scope/inner@2.1.0',
    properties: [{ name: 'coxswain:packaging', value: 'bundled' }],
  })
  deepEqual(components[3]?.['licenses'], [{ expression: '(MIT OR ISC)' }])
  deepEqual(dependencies, [
    {
      ref: 'pkg:npm/tool@1.2.3',
      dependsOn: ['pkg:npm/%40scope/inner@2.1.0', 'pkg:npm/page@1.0.0', 'pkg:npm/runtime@3.0.0'],
    },
    { ref: 'pkg:npm/%40scope/inner@2.1.0', dependsOn: [] },
    { ref: 'pkg:npm/deep@4.0.0', dependsOn: [] },
    { ref: 'pkg:npm/page@1.0.0', dependsOn: ['pkg:npm/%40scope/inner@2.1.0'] },
    { ref: 'pkg:npm/runtime@3.0.0', dependsOn: ['pkg:npm/deep@4.0.0'] },
  ])
})

test('equal inputs give equal bills', () => deepEqual(billOf(['page'], ['runtime']), billOf(['page'], ['runtime'])))

test('a package without an entry or without a usable hash is an error that names it', () => {
  throws(() => billOf(['missing'], []), /no package missing/)
  throws(() => billOf([], ['unknown']), /no license or no usable integrity for unknown/)
})
