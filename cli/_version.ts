/** The version of this program; a test compares it with the package's. */
export const VERSION = "0.1.0";
