// The names of the files of executables in a release.
export const executableArchitectures = ['arm64', 'x64']

export const executableFiles = (version, architecture) => ({
  archive: `coxswain-${version}-linux-${architecture}.tar.gz`,
  bill: `coxswain-${version}-linux-${architecture}.cdx.json`,
})
