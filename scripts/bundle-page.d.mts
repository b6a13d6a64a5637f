/** Bundles the web page into a folder, which is replaced. Returns the files of packages that are part of the page. */
export function bundlePage(folder: string): Promise<string[]>
