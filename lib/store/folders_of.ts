/** Every folder that files with these names lie in, at any depth. */
export function foldersOf(names: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const name of names) {
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) folders.add(name.slice(0, at));
  }
  return folders;
}
