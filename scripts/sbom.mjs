// The software bill of materials of a bundle, in CycloneDX 1.6: the packages whose modules the bundler has included, and those
// that npm installs beside it. It depends on its inputs only, so it has neither a time nor a random serial number.

/** `/…/node_modules/lit-html/directives/repeat.js` → `lit-html`. */
export function packagesOf(moduleIds) {
  const names = moduleIds.flatMap((id) => {
    const [, path, nested] = id.split(/[/\\]node_modules[/\\]/)
    if (nested !== undefined) throw new Error(`${id}: packages within packages have no entry of their own here`)
    return path === undefined
      ? []
      : [
          path
            .split(/[/\\]/)
            .slice(0, path.startsWith('@') ? 2 : 1)
            .join('/'),
        ]
  })
  return [...new Set(names)].toSorted()
}

/** The packages of the lock file that installing `names` installs, with their dependencies. */
export function closure(lock, names) {
  const found = new Set()
  const add = (name) => {
    if (found.has(name)) return
    found.add(name)
    Object.keys(entryOf(lock, name).dependencies ?? {}).forEach(add)
  }
  names.forEach(add)
  return [...found]
}

function entryOf(lock, name) {
  const entry = lock.packages[`node_modules/${name}`]
  if (entry === undefined) throw new Error(`package-lock.json has no package ${name}`)
  return entry
}

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** The scope of a name is the group of CycloneDX. */
const named = (name) => {
  const [last, group] = name.split('/').toReversed()
  return { ...(group === undefined ? {} : { group }), name: last }
}

/** One identifier of SPDX, or an expression of several. */
const licensesOf = (license) => [/^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }]

/** `packaging` says how the package is contained: one that the page uses, too, is bundled and installed. */
function component(lock, name, packaging) {
  const { version, license, integrity } = entryOf(lock, name)
  const [algorithm, digest] = [integrity.slice(0, integrity.indexOf('-')), integrity.slice(integrity.indexOf('-') + 1)]
  const alg = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }[algorithm]
  if (alg === undefined || license === undefined)
    throw new Error(`package-lock.json has no license or no usable integrity for ${name}`)
  return {
    type: 'library',
    'bom-ref': purlOf(name, version),
    ...named(name),
    version,
    scope: 'required',
    hashes: [{ alg, content: Buffer.from(digest, 'base64').toString('hex') }],
    licenses: licensesOf(license),
    purl: purlOf(name, version),
    properties: packaging.map((value) => ({ name: 'coxswain:packaging', value })),
  }
}

/**
 * `bundled` are packages whose code is in the bundle, and `installed` those that npm installs with it. `lock` is
 * package-lock.json, which has the version, license and integrity of each.
 */
export function sbom({ fields, lock, bundled, installed }) {
  const own = purlOf(fields.name, fields.version)
  const beside = closure(lock, installed)
  const names = [...new Set([...bundled, ...beside])].toSorted()
  const packagingOf = (name) => [
    ...(bundled.includes(name) ? ['bundled'] : []),
    ...(beside.includes(name) ? ['installed'] : []),
  ]
  const refOf = (name) => purlOf(name, entryOf(lock, name).version)
  const dependenciesOf = (name) => Object.keys(entryOf(lock, name).dependencies ?? {})
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': own,
        name: fields.name,
        version: fields.version,
        description: fields.description,
        licenses: licensesOf(fields.license),
        purl: own,
      },
    },
    components: names.map((name) => component(lock, name, packagingOf(name))),
    dependencies: [
      { ref: own, dependsOn: [...new Set([...bundled, ...installed])].toSorted().map(refOf) },
      ...names.map((name) => ({
        ref: refOf(name),
        dependsOn: dependenciesOf(name)
          .filter((each) => names.includes(each))
          .toSorted()
          .map(refOf),
      })),
    ],
  }
}
